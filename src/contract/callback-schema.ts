// The schemas of answers about the callbacks of tasks.

import { z } from 'zod';
import { pageOf } from './model-schema';
import { callbackStates } from './vocabulary';

const seconds = (description: string) => z.int().meta({ description });

const attemptSchema = z
  .strictObject({
    attempt: z.int(),
    at: seconds('Unix seconds.'),
    status: z.int().nullable().meta({ description: 'HTTP status; null without an answer.' }),
    latency_ms: z.int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'CallbackAttempt' });
const nextAttempt = seconds('Unix seconds of the next attempt.').nullable();
const webhookOfCallback = z.string().nullable().meta({
  description:
    'The webhook of the account that gets the message; null if the task named an address.',
});

export const callbacksSchema = z.strictObject({
  data: z.array(attemptSchema),
  next_at: nextAttempt,
  state: z
    .enum(callbackStates)
    .nullable()
    .meta({ example: 'delivered', description: 'Null if the task has no callback.' }),
  webhook_id: webhookOfCallback,
});

export const callbackListSchema = pageOf(
  z
    .strictObject({
      task_id: z.string(),
      state: z.enum(callbackStates),
      webhook_id: webhookOfCallback,
      changed_at: seconds('Unix seconds of the last change.'),
      next_at: nextAttempt,
      last_attempt: attemptSchema.nullable().meta({ description: 'Null before the first.' }),
    })
    .meta({ id: 'Callback' }),
);
