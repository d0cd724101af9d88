// The fields of an account's webhook, and the schemas of its replies.

import { z } from 'zod';
import { type Field, words } from './field';
import { callbackField } from './metadata-schema';

/** The final states of tasks. A webhook without a list of events takes them. */
export const taskEvents = ['succeeded', 'failed'] as const;
export const alertEvents = ['balance.low', 'budget.near', 'budget.reached'] as const;
const webhookEvents = [...taskEvents, ...alertEvents] as const;
export type AlertEvent = (typeof alertEvents)[number];
export type WebhookEvent = (typeof webhookEvents)[number];

export const webhookFields = {
  url: callbackField,
  events: {
    schema: z.array(z.enum(webhookEvents)).max(webhookEvents.length).meta({
      description:
        'What is sent: the final states of tasks, and alerts about the balance and the budgets. Default, also for an empty list: both final states.',
    }),
    wanted: `must be a list of ${words(webhookEvents)}`,
  },
} satisfies Record<string, Field>;

export const webhookRequestSchema = z
  .strictObject({ url: callbackField.schema, events: webhookFields.events.schema.nullish() })
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
