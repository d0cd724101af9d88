// OpenAPI operations of an account's keys.

import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { createdKeySchema, keyRequestSchema, keysSchema, revokedKeySchema } from './key-schema';
import { errorResponses, jsonReply } from './openapi-parts';
import { withoutNul } from './safe-json';

const tags = ['Account'];

export const keyPaths: ZodOpenApiPathsObject = {
  '/v1/account/keys': {
    get: {
      operationId: 'listKeys',
      tags,
      summary: 'The account’s keys, without the keys themselves',
      responses: {
        '200': jsonReply('The valid keys, newest first, then ended ones.', keysSchema),
        ...errorResponses('invalid_api_key'),
      },
    },
    post: {
      operationId: 'createKey',
      tags,
      summary: 'Make a key',
      description:
        'Needs a key that manages keys. The new key has no more rights than that one, and cannot manage keys.',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: keyRequestSchema } },
      },
      responses: {
        '201': jsonReply('The key, shown this once.', createdKeySchema),
        ...errorResponses(
          'invalid_json',
          'invalid_value',
          'invalid_api_key',
          'key_management_not_allowed',
          'key_limit_reached',
          'request_too_large',
          'unsupported_media_type',
          'outcome_unknown',
        ),
      },
    },
  },
  '/v1/account/keys/{key_id}': {
    delete: {
      operationId: 'revokeKey',
      tags,
      summary: 'Revoke a key',
      description: 'It is refused within 30 seconds. Its tasks go on.',
      requestParams: { path: z.object({ key_id: z.string().min(1).regex(withoutNul) }) },
      responses: {
        '200': jsonReply('The key was revoked.', revokedKeySchema),
        ...errorResponses('invalid_api_key', 'key_management_not_allowed', 'key_not_found'),
      },
    },
  },
};
