// The fields of an account's webhook, and the schemas of its replies.

import { z } from 'zod';
import type { Field } from './field';
import { callbackField } from './metadata-schema';

export const webhookEvents = ['succeeded', 'failed'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export const webhookFields = {
  url: callbackField,
  events: {
    schema: z.array(z.enum(webhookEvents)).max(webhookEvents.length).meta({
      description:
        'The final states of tasks that are sent. Default, also for an empty list: both.',
    }),
    wanted: 'must be a list of "succeeded", "failed" or both',
  },
} satisfies Record<string, Field>;

export const webhookRequestSchema = z
  .object({ url: callbackField.schema, events: webhookFields.events.schema.nullish() })
  .meta({ id: 'WebhookRequest' });

export const webhookSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('webhook'),
    url: z.string().meta({ format: 'uri' }),
    events: z.array(z.enum(webhookEvents)),
    created_at: z.int().meta({ description: 'Unix seconds.' }),
  })
  .meta({ id: 'Webhook' });

export const createdWebhookSchema = webhookSchema
  .extend({ secret: z.string().meta({ description: 'Signs its messages; shown only once.' }) })
  .meta({ id: 'CreatedWebhook' });

export const webhooksSchema = z.strictObject({ data: z.array(webhookSchema) });

export const deletedWebhookSchema = z.strictObject({
  id: z.string(),
  object: z.literal('webhook'),
  deleted: z.literal(true),
});

export const webhookTestSchema = z
  .strictObject({
    at: z.int().meta({ description: 'Unix seconds.' }),
    status: z.int().nullable().meta({ description: 'Null if the receiver did not answer.' }),
    latency_ms: z.int().nullable().meta({ description: 'Null if nothing was sent.' }),
    error: z.string().nullable().meta({ description: 'Null if the receiver took the message.' }),
  })
  .meta({ id: 'WebhookTest' });
