// The tools for agents: what they do, and their fields. Also the messages of the protocol's Tasks
// extension.

import { z } from 'zod';
import { type Fault, invalid } from './field';
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

const tools = {
  submit: {
    description: 'Starts a video. It costs money, which is refunded if it fails.',
    fields: { ...video, idempotency_key: key },
  },
  status: { description: 'Shows a task as it is now.', fields: taskId },
  result: {
    description: `Waits until a task has ended, for at most \`wait_seconds\` (otherwise ${waitSecondsDefault}), and shows it. A finished task has the link of its video.`,
    fields: { ...taskId, wait_seconds: wait },
  },
  cancel: { description: 'Cancels a task that has not ended.', fields: taskId },
  quote: { description: 'Shows the price of a video, without starting it.', fields: video },
} as const satisfies Record<string, { description: string; fields: z.ZodRawShape }>;

export type ToolName = keyof typeof tools;

export function toolsOf() {
  return Object.entries(tools).map(([name, { description, fields }]) => ({
    name,
    description,
    inputSchema: z.toJSONSchema(z.object(fields), { io: 'input' }) as { type: 'object' },
  }));
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
