// Parts shared by the operations of the OpenAPI document: replies with headers and examples, and
// one error reply per HTTP status.

import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { errorBody, type RefusalCode, refusals } from './error';
import { sentences } from './error-sentences';
import { errorSchema } from './reply-schema';
import { withoutNul } from './safe-json';

type HeaderMap = NonNullable<ZodOpenApiResponseObject['headers']>;

export const replyHeaders = {
  'X-Request-Id': { description: 'The id of this request.', schema: { type: 'string' } },
} as const satisfies HeaderMap;

export const taskIdParameter = z.object({
  task_id: z.string().min(1).regex(withoutNul).meta({
    description: 'The id that create returned.',
    example: 'task_01k9m3c5x8v2q4w6e8r0t2y4na',
  }),
});

export const preferHeader = z.object({
  Prefer: z.string().optional().meta({
    description:
      '`wait=N` (1 to 60) holds the reply until the task is final or N seconds have passed.',
    example: 'wait=30',
  }),
});

/** The two parameters of a list that is read in pages. */
export const pageQuery = (after: RegExp) => ({
  limit: z.int().min(1).max(100).optional().meta({ description: 'Default 20.' }),
  after: z
    .string()
    .regex(after)
    .optional()
    .meta({ description: 'The `next` of the page before; absent: the first page.' }),
});

export function jsonReply(
  description: string,
  schema: z.ZodType,
  examples: Readonly<Record<string, unknown>> = {},
  headers: HeaderMap = replyHeaders,
): ZodOpenApiResponseObject {
  const shown = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    description,
    headers,
    content: {
      'application/json': {
        schema,
        ...(shown.length > 0 ? { examples: Object.fromEntries(shown) } : {}),
      },
    },
  };
}

const retryHeaders: HeaderMap = {
  ...replyHeaders,
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } },
};
const limitHeaders: HeaderMap = {
  ...retryHeaders,
  'RateLimit-Limit': { schema: { type: 'integer' } },
  'RateLimit-Remaining': { schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds.', schema: { type: 'integer' } },
};

const always: readonly RefusalCode[] = ['internal_error', 'unavailable'];
const keyRefusals: readonly RefusalCode[] = ['account_disabled', 'rate_limited'];

export function errorResponses(
  ...codes: readonly RefusalCode[]
): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, RefusalCode[]>();
  // Every call with a key can also be refused with these codes.
  const ofKeys = codes.includes('invalid_api_key') ? keyRefusals : [];
  for (const code of new Set([...codes, ...always, ...ofKeys])) {
    const { status } = refusals[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, ofStatus]) => {
    const examples = ofStatus.map((code) => {
      const [, message, param = ''] = sentences[code];
      return [code, errorBody({ code, message, param })];
    });
    const description = ofStatus.map((code) => `\`${code}\`: ${sentences[code][0]}.`).join('\n');
    const headers = status === 429 ? limitHeaders : status === 503 ? retryHeaders : replyHeaders;
    return [
      String(status),
      jsonReply(description, errorSchema, Object.fromEntries(examples), headers),
    ];
  });
  return Object.fromEntries(responses);
}
