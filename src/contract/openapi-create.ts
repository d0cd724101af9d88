// OpenAPI operations that create and quote a task. Both share one body and its examples. The
// callback that follows a create is described here too.

import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import type { RefusalCode } from './error';
import { createdExample, type RequestExample, requestExamples, taskExamples } from './examples';
import { errorResponses, jsonReply, replyHeaders } from './openapi-parts';
import { createdSchema, quoteSchema, taskSchema } from './reply-schema';
import { videoRequestSchema } from './request-schema';

const examples = Object.fromEntries(
  Object.entries<RequestExample>(requestExamples).map(([name, { summary, body }]) => [
    name,
    { summary, value: body },
  ]),
);

const requestBody = {
  required: true,
  content: { 'application/json': { schema: videoRequestSchema, examples } },
} as const;

const bodyRefusals: readonly RefusalCode[] = [
  'invalid_json',
  'missing_required_parameter',
  'invalid_value',
  'unsupported_value',
  'conflicting_parameters',
  'model_not_found',
  'invalid_api_key',
  'model_not_allowed',
  'channel_not_allowed',
  'account_disabled',
  'request_too_large',
  'unsupported_media_type',
];

export const createOperation: ZodOpenApiOperationObject = {
  tags: ['Tasks'],
  summary: 'Create a task',
  description:
    'Stores a task and answers; the task starts at once, and its price is then held. All faults of a body are reported together; a refused create stores nothing.',
  requestParams: {
    header: z.object({
      'Idempotency-Key': z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/)
        .optional()
        .meta({
          description:
            'With the same key and body a repeated call answers with the first task (`Idempotent-Replayed: true`) and never makes a second one.',
        }),
    }),
  },
  requestBody,
  responses: {
    '200': jsonReply(
      'The task was accepted.',
      createdSchema,
      { submitted: createdExample },
      {
        ...replyHeaders,
        Location: { description: 'The address of the task.', schema: { type: 'string' } },
        'Idempotent-Replayed': {
          description: '`true` when the task had been created before.',
          schema: { type: 'string' },
        },
      },
    ),
    ...errorResponses(
      ...bodyRefusals,
      'insufficient_balance',
      'budget_exceeded',
      'idempotency_key_reused',
      'rate_limited',
      'outcome_unknown',
    ),
  },
  callbacks: {
    taskFinished: {
      '{$request.body#/metadata/callback_url}': {
        post: {
          summary: 'The task is final',
          description:
            'Sent at least once when the task is final, signed as Standard Webhooks prescribe. The body is the GET ' +
            'reply of the finished task. Any 2xx is success, 410 stops, everything else is tried again for at least three days.',
          security: [],
          requestParams: {
            header: z.object({
              'webhook-id': z.string().meta({
                description:
                  '`<task id>:<status>`, the same on every attempt: the key to dedupe by.',
              }),
              'webhook-timestamp': z.string().meta({ description: 'Unix seconds of the attempt.' }),
              'webhook-signature': z
                .string()
                .meta({ description: '`v1,<base64>`, several while a secret is being rotated.' }),
            }),
          },
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: taskSchema,
                examples: {
                  succeeded: { value: taskExamples.succeeded },
                  failed: { value: taskExamples.failed },
                },
              },
            },
          },
          responses: { '200': { description: 'Received; so is any other 2xx.' } },
        },
      },
    },
  },
};

export const quoteOperation: ZodOpenApiOperationObject = {
  operationId: 'quoteTask',
  tags: ['Tasks'],
  summary: 'What a task would cost',
  description: 'Takes the body of a create, answers with the plan and the hold, stores nothing.',
  requestBody,
  responses: {
    '200': jsonReply('The plan and its price.', quoteSchema, {
      text: {
        model: 'studio-2.0',
        input_type: 'text_to_video',
        width: 1280,
        height: 720,
        duration: 5,
        tokens: 108900,
        currency: 'CNY',
        hold: '5.009400',
        items: taskExamples.succeeded.billing.items,
        plain_video: {
          resolution: '720p',
          ratio: '16:9',
          duration: 5,
          currency: 'CNY',
          price: '5.009400',
          price_per_second: '1.001880',
        },
      },
    }),
    ...errorResponses(...bodyRefusals),
  },
};
