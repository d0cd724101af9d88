// OpenAPI operations of files.

import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { errorResponses, replyHeaders } from './openapi-parts';

const bytesHeaders = {
  ...replyHeaders,
  ETag: { description: 'The SHA-256 of the file.', schema: { type: 'string' } },
  'Accept-Ranges': { schema: { type: 'string' } },
} as const;
const bytes = {
  content: { '*/*': { schema: z.string().meta({ format: 'binary' }) } },
  headers: bytesHeaders,
};

export const bytesReplies: ZodOpenApiOperationObject['responses'] = {
  '200': { description: 'The file.', ...bytes },
  '206': { description: 'The part that `Range` asks for.', ...bytes },
  '304': { description: 'The client has the file: `If-None-Match`.', headers: bytesHeaders },
};

const deliver: ZodOpenApiOperationObject = {
  operationId: 'readLinkedFile',
  tags: ['Files'],
  summary: 'A file by its link',
  description:
    'The link of a result or of an uploaded file. It needs no key: whoever has the link can read the file, and nobody can guess it. `Range`, `If-Range` and `If-None-Match` are honoured.',
  security: [],
  requestParams: {
    path: z.object({
      token: z.string().min(32).max(64).meta({ description: 'The secret part of the link.' }),
      ext: z.string().meta({ example: 'mp4' }),
    }),
    header: z.object({ Range: z.string().optional().meta({ example: 'bytes=0-1023' }) }),
  },
  responses: {
    ...bytesReplies,
    '302': { description: 'The file is at the address in `Location`, for an hour.' },
    ...errorResponses(
      'file_not_found',
      'file_removed',
      'range_not_satisfiable',
      'rate_limited',
      'internal_error',
      'unavailable',
    ),
  },
};

export const filePaths: ZodOpenApiPathsObject = {
  '/files/{token}.{ext}': { get: deliver },
};
