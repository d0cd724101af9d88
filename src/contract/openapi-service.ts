// OpenAPI operations about the service itself, such as probes and versions. They need no key.

import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { jsonReply } from './openapi-parts';
import { aliveSchema, readySchema, servingSchema, versionSchema } from './reply-schema';

const open = { security: [], tags: ['Service'] };

function service(
  operationId: string,
  summary: string,
  responses: ZodOpenApiOperationObject['responses'],
): { get: ZodOpenApiOperationObject } {
  return { get: { ...open, operationId, summary, responses } };
}

const version = { name: 'video-generation-service', version: '1.0.0', commit: '0f3c1a2' };
const parts = { database: true, temporal: true, catalogue: true, serving: true };

export const servicePaths: ZodOpenApiPathsObject = {
  '/': service('getStartPage', 'The playground where it is enabled, else the version', {
    '200': {
      description: 'A page for people, or which version runs.',
      content: {
        'application/json': { schema: versionSchema },
        'text/html': { schema: z.string() },
      },
    },
  }),
  '/version': service('getVersion', 'Which version runs', {
    '200': jsonReply('The version.', versionSchema, { version }),
  }),
  '/livez': service('isAlive', 'Whether the process answers at all', {
    '200': jsonReply('Alive.', aliveSchema, { alive: { alive: true } }),
  }),
  '/readyz': service('isReady', 'Whether it can work, and which part is missing', {
    '200': jsonReply('Ready.', readySchema, { ready: { ready: true, parts } }),
    '503': jsonReply('Not ready.', readySchema, {
      temporalAway: { ready: false, parts: { ...parts, temporal: false } },
    }),
  }),
  '/readyz/serving': service('isServing', 'Whether a proxy may send calls to the process', {
    '200': jsonReply('It reached PostgreSQL once, and is not stopping.', servingSchema, {
      serving: { serving: true },
    }),
    '503': jsonReply('It starts or stops.', servingSchema, { starting: { serving: false } }),
  }),
  '/openapi.json': service('getOpenApi', 'This document', {
    '200': {
      description: 'OpenAPI 3.1. `/docs` is a page to read it and try it out.',
      content: { 'application/json': { schema: z.looseObject({ openapi: z.string() }) } },
    },
  }),
};
