// zod schemas of the API's replies. The OpenAPI document is generated from these schemas, and tests
// compare real replies with them. task.ts infers the types of the task object from here.

import { z } from 'zod';
import { refusals } from './error';
import { amount, modelSchema, pageOf, plainVideoSchema } from './model-schema';
import { videoSchema } from './video-schema';
import {
  billingKinds,
  inputTypes,
  movementKinds,
  stages,
  taskErrorCodes,
  taskStatuses,
} from './vocabulary';

const seconds = (description: string) => z.int().meta({ description });
const taskId = z
  .string()
  .meta({ description: 'Public task id.', example: 'task_01k9m3c5x8v2q4w6e8r0t2y4na' });
const status = z.enum(taskStatuses).meta({
  description:
    '`succeeded` and `failed` are final; poll every 2 to 5 seconds until one of them appears.',
});

const fiveFields = {
  id: taskId,
  task_id: z.string().meta({ description: 'Equal to `id`.' }),
  object: z.literal('video.generation.task'),
  status,
  message: z
    .string()
    .meta({ description: 'What the task is doing or waits for; of a failed task its reason.' }),
};

export const createdSchema = z
  .strictObject(fiveFields)
  .meta({ id: 'CreatedTask', description: 'Exactly these five fields.' });

const billingItemSchema = z
  .strictObject({
    kind: z.enum(billingKinds),
    quantity: z.string().meta({ description: 'Millions of tokens, or minutes; six places.' }),
    unit: z.string().meta({ example: '1M tokens' }),
    unit_price: amount,
    amount,
  })
  .meta({ id: 'BillingItem' });

const billing = z
  .strictObject({
    currency: z.string().meta({ example: 'CNY' }),
    held: amount,
    charged: amount,
    refunded: amount,
    items: z.array(billingItemSchema),
    usage_missing: z.literal(true).optional().meta({
      description:
        'No plausible usage was reported for a line of the bill; at most what was held is charged.',
    }),
  })
  .meta({ id: 'Billing' });

const part = (description: string) => z.number().optional().meta({ description });
const timings = z
  .strictObject({
    queued: z.number().meta({ description: 'From the create until its amount was held.' }),
    placed: part('Until a generator had it.'),
    generated: part('Until the generator had made the video.'),
    enhanced: part('Until its super-resolution was made.'),
    stored: part('Until the results were stored and the task was settled.'),
  })
  .meta({ id: 'Timings', description: 'Seconds. A part that was not reached is absent.' });

export const taskSchema = z
  .strictObject({
    ...fiveFields,
    trace_id: z.string().meta({
      description: 'The trace of the create: from its `traceparent`, otherwise a new one.',
    }),
    data: z.array(videoSchema).meta({ description: 'Empty until success, then one object.' }),
    model: z.string().meta({ description: 'As it was sent.' }),
    created_at: seconds('Unix seconds.'),
    labels: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'As `metadata.labels` was sent; absent without labels.' }),
    finished_at: seconds('Unix seconds; only when final.').optional(),
    stage: z.enum(stages).optional().meta({
      description: 'Only while running. `storing`: the video is finished and is being copied.',
    }),
    video_url: z.string().optional().meta({
      description:
        'Equal to `data[0].url` and absent like it; with super-resolution the enhanced video.',
    }),
    duration: z.number().optional().meta({ description: 'Seconds.' }),
    usage: z
      .strictObject({
        completion_tokens: z.number(),
        total_tokens: z.number(),
        seconds: z.number().optional().meta({ description: 'The measured length of the video.' }),
      })
      .optional()
      .meta({
        description:
          'On success. `completion_tokens` at the price of the time of the create is the charge; `seconds` is measured in the file.',
      }),
    error: z
      .strictObject({
        message: z.string(),
        code: z.enum(taskErrorCodes).meta({
          description:
            '`provider_error`: generator or enhancer refused or failed. `task_error`: decided here (expired, cancelled, out of balance).',
        }),
      })
      .optional()
      .meta({
        description:
          'Only of failed tasks, which are not charged. `provider_error`: generator or enhancer refused or failed. `task_error`: the service ended the task (expired, cancelled, out of balance).',
      }),
    seed: z
      .number()
      .optional()
      .meta({ description: 'The seed that was used; absent if the generator takes none.' }),
    billing: billing.optional().meta({
      description:
        'Once held: `held`, `charged`, `refunded` and the items of the charge, with six decimals.',
    }),
    timings: timings.optional().meta({
      description: 'Only when final: the seconds of each part of its life. Their sum is the whole.',
    }),
  })
  .meta({ id: 'Task' });

export const cancelledSchema = taskSchema
  .extend({
    cancel_requested: z.literal(true).optional().meta({
      description:
        'The cancellation was accepted. A task that is not final yet ends soon; read on.',
    }),
  })
  .meta({ id: 'CancelledTask' });

export const errorSchema = z
  .strictObject({
    error: z.strictObject({
      message: z
        .string()
        .meta({ description: 'For people. Of a 400 it names every fault found, one per line.' }),
      type: z.enum(unique(Object.values(refusals).map(({ type }) => type))),
      param: z.string().meta({
        description: 'JSON path of the first fault, for example `images[3]`; may be empty.',
      }),
      code: z.enum(Object.keys(refusals) as [string, ...string[]]),
    }),
  })
  .meta({ id: 'Error' });

export const quoteSchema = z
  .strictObject({
    model: z.string(),
    input_type: z.enum(inputTypes),
    width: z.int().nullable().meta({
      description:
        'Pixels of the video, after super-resolution; null if the generator decides (`adaptive`).',
    }),
    height: z.int().nullable(),
    duration: z.int().meta({ description: '-1: the model picks the length.' }),
    tokens: z.int().meta({ description: 'Tokens that would be held.' }),
    currency: z.string(),
    hold: amount,
    estimate: amount.optional().meta({
      description:
        'What the task would cost by `input_video_duration`; present if it is sent with `videos`.',
    }),
    items: z.array(billingItemSchema),
    plain_video: plainVideoSchema,
  })
  .meta({ id: 'Quote' });

export const modelsSchema = z.strictObject({ data: z.array(modelSchema) });

export const tasksSchema = pageOf(taskSchema);

export const accountSchema = z
  .strictObject({ available: amount, held: amount, currency: z.string() })
  .meta({ id: 'Account' });

export const movementSchema = z
  .strictObject({
    number: z.int(),
    at: seconds('Unix seconds.'),
    kind: z.enum(movementKinds),
    task_id: z.string().nullable(),
    amount,
    change: amount.meta({ description: 'The change of the available balance.' }),
    balance_after: amount,
    currency: z.string(),
    reason: z.string(),
  })
  .meta({ id: 'Movement' });

export const statementSchema = pageOf(movementSchema);

export const versionSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  commit: z.string(),
});

export const aliveSchema = z.strictObject({ alive: z.literal(true) });

export const servingSchema = z.strictObject({ serving: z.boolean() });

export const readySchema = z.strictObject({
  ready: z.boolean(),
  parts: z.record(z.string(), z.boolean()),
});

function unique<T extends string>(words: readonly T[]): [T, ...T[]] {
  return [...new Set(words)] as [T, ...T[]];
}
