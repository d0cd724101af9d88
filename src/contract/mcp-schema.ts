// The tools for agents: what they do, and their fields. Also the messages of the protocol's Tasks
// extension.

import { z } from 'zod';
import { type Fault, invalid } from './field';
import {
  cancelledSchema,
  createdSchema,
  modelsSchema,
  quoteSchema,
  taskSchema,
} from './reply-schema';
import { requestFields } from './request-schema';

/** Long enough for most videos that are nearly finished, and shorter than the patience of clients. */
export const waitSecondsDefault = 45;

const { model, prompt, images, videos, audios, resolution, ratio, duration } = requestFields;
const video = {
  model: model.schema.describe('An unknown model is refused with a list of the known ones.'),
  prompt: prompt.schema,
  images: images.schema.optional(),
  videos: videos.schema.optional(),
  audios: audios.schema.optional(),
  resolution: resolution.schema.optional(),
  ratio: ratio.schema.optional(),
  duration: duration.schema.optional(),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('All other options of a create, for example `seed`.'),
};
const taskId = { task_id: z.string().describe('The id that `submit` answered.') };
const key = z
  .string()
  .optional()
  .describe('A text of your choice. Repeated calls with the same key make one video.');
const wait = z.int().min(0).max(60).optional();

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };

interface ToolEntry {
  readonly title: string;
  readonly description: string;
  readonly fields: z.ZodRawShape;
  readonly answer: z.ZodType;
  readonly annotations: Readonly<Record<`${string}Hint`, boolean>>;
}

const tools = {
  submit: {
    title: 'Start a video',
    description: 'Starts a video. It costs money, which is refunded if it fails.',
    fields: { ...video, idempotency_key: key },
    answer: createdSchema,
    // Each call makes a video, unless it has the key of another.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  },
  status: {
    title: 'Show a task',
    description: 'Shows a task as it is now.',
    fields: taskId,
    answer: taskSchema,
    annotations: reads,
  },
  result: {
    title: 'Wait for a video',
    answer: taskSchema,
    annotations: reads,
    description: `Waits until a task has ended, for at most \`wait_seconds\` (otherwise ${waitSecondsDefault}), and shows it. A finished task has the link of its video.`,
    fields: { ...taskId, wait_seconds: wait },
  },
  cancel: {
    title: 'Cancel a task',
    description: 'Cancels a task that has not ended.',
    fields: taskId,
    answer: cancelledSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  },
  quote: {
    title: 'Ask for a price',
    description: 'Shows the price of a video, without starting it.',
    fields: video,
    answer: quoteSchema,
    annotations: reads,
  },
  models: {
    title: 'List the models',
    description: 'Shows the models that this key may use, with their abilities and prices.',
    fields: {},
    answer: modelsSchema,
    annotations: reads,
  },
} as const satisfies Record<string, ToolEntry>;

export type ToolName = keyof typeof tools;

let described: ReturnType<typeof describeTools> | undefined;

/** The tools as agents see them. They never change, and describing them takes milliseconds. */
export function toolsOf() {
  described ??= describeTools();
  return described;
}

function describeTools() {
  return Object.entries(tools).map(([name, { fields, answer, ...shown }]) => ({
    name,
    ...shown,
    inputSchema: z.toJSONSchema(z.object(fields), { io: 'input' }) as { type: 'object' },
    outputSchema: answerSchema(answer),
  }));
}

/**
 * Later versions may add fields, and an agent's client must not refuse them. Clients of older
 * revisions of the protocol need the type at the root, also of a union of objects.
 */
function answerSchema(answer: z.ZodType): { type: 'object' } {
  const schema = z.toJSONSchema(answer, {
    io: 'output',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return { ...schema, type: 'object' };
}

/** The first fault of the arguments of a tool; a create and a quote check their own. */
export function argumentsFault(name: ToolName, given: object): Fault | null {
  if (name === 'submit' || name === 'quote') return null;
  const [issue] = z.strictObject(tools[name].fields).safeParse(given).error?.issues ?? [];
  if (!issue) return null;
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const param = (unknown ?? String(issue.path[0] ?? '')).slice(0, 80);
  return invalid(param, unknown === undefined ? issue.message : 'there is no such field.');
}

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** A message whose client declares the Tasks extension. */
export const declaresTasksSchema = z.object({
  params: z.object({
    _meta: z.object({
      'io.modelcontextprotocol/clientCapabilities': z.object({
        extensions: z.object({ [tasksExtension]: z.object({}) }),
      }),
    }),
  }),
});

export const toolCallSchema = z.object({
  method: z.literal('tools/call'),
  params: z.object({ name: z.string() }),
});

export const taskCallSchemas = {
  params: z.looseObject({ taskId: z.string() }),
  result: z.looseObject({}),
};
