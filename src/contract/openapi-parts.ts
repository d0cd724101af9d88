// The parts that operations of the OpenAPI document share: replies with their headers and examples,
// and one reply per HTTP status for the codes an operation can be refused with.

import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { errorBody, type RefusalCode, refusals } from './error';
import { errorSchema } from './reply-schema';

type HeaderMap = NonNullable<ZodOpenApiResponseObject['headers']>;

export const replyHeaders = {
  'X-Request-Id': { description: 'The id of this request.', schema: { type: 'string' } },
} as const satisfies HeaderMap;

export const taskIdParameter = z.object({
  task_id: z.string().min(1).meta({
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

/** What each code means to a caller, with the sentence of an example. */
const sentences: Readonly<
  Record<RefusalCode, readonly [meaning: string, message: string, param?: string]>
> = {
  invalid_json: [
    'the body is no JSON object in UTF-8',
    'The body must be a JSON object in UTF-8, but it is not valid JSON.',
  ],
  missing_required_parameter: [
    'a required field is missing',
    'prompt: is required; it must be a non-empty string.',
    'prompt',
  ],
  invalid_value: [
    'a value is malformed or out of range',
    'metadata.seed: must be a whole number from -1 to 4294967295; got "x".',
    'metadata.seed',
  ],
  unsupported_value: [
    'the model cannot do this',
    'resolution: model "studio-2.0-fast" renders 480p, 720p, not 1080p.',
    'resolution',
  ],
  conflicting_parameters: [
    'fields that exclude each other',
    'image: is the old form of images[0] and cannot be sent together with images; put it into images.',
    'image',
  ],
  model_not_found: [
    'there is no such model',
    'model: there is no model "x". This key may use: studio-2.0.',
    'model',
  ],
  task_id_required: ['the path holds no task id', 'task_id is required', 'task_id'],
  invalid_api_key: [
    'missing, malformed, unknown, expired or revoked key',
    'The API key is missing or invalid. Send it as "Authorization: Bearer <API_KEY>".',
  ],
  insufficient_balance: [
    'the balance does not cover the hold',
    'This task needs a hold of 5.009400, but 1.000000 is available.',
  ],
  model_not_allowed: [
    'this key may not use the model',
    'This key may not use the model "studio-2.0".',
    'model',
  ],
  channel_not_allowed: [
    'this key may use no channel of the model',
    'This key may use no channel that serves this model.',
    'model',
  ],
  account_disabled: ['the account is disabled', 'This account is disabled.'],
  task_not_found: [
    'unknown id, or the task of another account',
    'There is no such task.',
    'task_id',
  ],
  route_not_found: ['there is nothing at this path', 'There is nothing at /v1/x.'],
  method_not_allowed: ['not with this method', 'PUT is not possible here; possible: POST.'],
  idempotency_key_reused: [
    'the key was used with another body',
    'This Idempotency-Key was used with another body. Use a new key for a new task.',
    'Idempotency-Key',
  ],
  task_already_finished: [
    'a finished task is left as it is',
    'The task has finished already; it is left as it is.',
    'task_id',
  ],
  request_too_large: ['the body is larger than 1 MiB', 'The body may have at most 1048576 bytes.'],
  unsupported_media_type: [
    'the body is not application/json in UTF-8',
    'The Content-Type must be application/json in UTF-8; got "text/plain".',
  ],
  rate_limited: [
    'too many creates, or too many unfinished tasks',
    'This key may create 10 times a second (up to 50 at once). Try again in 1 s.',
  ],
  internal_error: ['a fault of ours', 'Something went wrong here. Tell us the request id …'],
  unavailable: [
    'database or workflow engine cannot be reached; the message says whether anything was started',
    'The service cannot answer at the moment. Try again shortly.',
  ],
};

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

export function errorResponses(
  ...codes: readonly RefusalCode[]
): Record<`${4 | 5}${string}`, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of codes) {
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
