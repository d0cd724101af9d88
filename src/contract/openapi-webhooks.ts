// OpenAPI operations of an account's webhooks, callbacks and alerts.

import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { alertRequestSchema, alertsSchema } from './alert-schema';
import { callbackListSchema } from './callback-schema';
import { errorResponses, jsonReply, pageQuery } from './openapi-parts';
import { withoutNul } from './safe-json';
import { callbackStates } from './vocabulary';
import {
  createdWebhookSchema,
  deletedWebhookSchema,
  webhookRequestSchema,
  webhooksSchema,
  webhookTestSchema,
} from './webhook-schema';

const tags = ['Account'];
const someState = callbackStates.join('|');
const webhookId = z.object({ webhook_id: z.string().min(1).regex(withoutNul) });

export const webhookPaths: ZodOpenApiPathsObject = {
  '/v1/webhooks': {
    get: {
      operationId: 'listWebhooks',
      tags,
      summary: 'The account’s webhooks, newest first',
      responses: {
        '200': jsonReply('All webhooks.', webhooksSchema),
        ...errorResponses('invalid_api_key'),
      },
    },
    post: {
      operationId: 'createWebhook',
      tags,
      summary: 'Add a webhook',
      description:
        'It receives the callbacks of tasks that name no `callback_url`. If several webhooks take an event, the newest gets it.',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: webhookRequestSchema } },
      },
      responses: {
        '201': jsonReply('The webhook, with its secret.', createdWebhookSchema),
        ...errorResponses(
          'invalid_json',
          'missing_required_parameter',
          'invalid_value',
          'invalid_api_key',
          'webhook_limit_reached',
          'request_too_large',
          'unsupported_media_type',
          'outcome_unknown',
        ),
      },
    },
  },
  '/v1/webhooks/{webhook_id}': {
    delete: {
      operationId: 'deleteWebhook',
      tags,
      summary: 'Delete a webhook',
      description: 'Its messages that are not delivered yet are not sent any more.',
      requestParams: { path: webhookId },
      responses: {
        '200': jsonReply('The webhook was deleted.', deletedWebhookSchema),
        ...errorResponses('invalid_api_key', 'webhook_not_found'),
      },
    },
  },
  '/v1/webhooks/{webhook_id}/test': {
    post: {
      operationId: 'testWebhook',
      tags,
      summary: 'Send a test message to a webhook',
      description: 'Sends one signed message and waits for the answer of the receiver.',
      requestParams: { path: webhookId },
      responses: {
        '200': jsonReply('What the receiver answered.', webhookTestSchema),
        ...errorResponses('invalid_api_key', 'webhook_not_found', 'rate_limited', 'unavailable'),
      },
    },
  },
  '/v1/callbacks': {
    get: {
      operationId: 'listCallbacks',
      tags,
      summary: 'The callbacks of the account, the last changed first',
      description:
        'Finished tasks with a callback. `state=pending,exhausted,stopped` lists those that have not arrived.',
      requestParams: {
        query: z.object({
          ...pageQuery(/^[0-9]{1,16}\.task_[0-9a-z]{26}$/),
          state: z
            .string()
            .regex(new RegExp(`^(${someState})(,(${someState}))*$`))
            .optional()
            .meta({
              description: `Some of ${callbackStates.join(', ')}, separated by commas. Default: all.`,
            }),
        }),
      },
      responses: {
        '200': jsonReply('One page.', callbackListSchema),
        ...errorResponses('invalid_value', 'invalid_api_key'),
      },
    },
  },
  '/v1/account/alerts': {
    get: {
      operationId: 'listAlerts',
      tags,
      summary: 'The account’s alerts, newest first',
      responses: {
        '200': jsonReply('The newest hundred.', alertsSchema),
        ...errorResponses('invalid_api_key'),
      },
    },
    post: {
      operationId: 'setAlerts',
      tags,
      summary: 'Set the amount below which the balance is announced',
      description: 'A webhook gets the alert if its events contain `balance.low`.',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: alertRequestSchema } },
      },
      responses: {
        '200': jsonReply('The alerts as they are now.', alertsSchema),
        ...errorResponses(
          'invalid_json',
          'missing_required_parameter',
          'invalid_value',
          'invalid_api_key',
          'request_too_large',
          'unsupported_media_type',
        ),
      },
    },
  },
};
