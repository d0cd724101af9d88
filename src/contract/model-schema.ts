// zod schemas for the reply of GET /v1/models: a model with its inputs, abilities and prices.
// Amounts and pages of lists are also here, because other replies share them.

import { z } from 'zod';
import { inputTypes, ratios, resolutions } from './vocabulary';

export const amount = z
  .string()
  .regex(/^-?\d+\.\d{6}$/)
  .meta({ description: 'Decimal amount, six places.', example: '5.009400' });

/** A page of a list. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.strictObject({
    data: z.array(item),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `after` for the next page; null on the last.' }),
  });

export const plainVideoSchema = z
  .strictObject({
    resolution: z.enum(resolutions),
    ratio: z.enum(ratios),
    duration: z.int(),
    currency: z.string(),
    price: amount,
    price_per_second: amount,
  })
  .meta({
    id: 'PlainVideo',
    description: 'The most that five seconds of 720p without references cost, to compare models.',
  });

export const modelSchema = z
  .strictObject({
    id: z.string(),
    retires: z.iso.date().optional().meta({
      description: 'The day (UTC) from which the model is not sold any more.',
    }),
    replaced_by: z.string().optional().meta({ description: 'The model to use instead.' }),
    resolutions: z.array(z.enum(resolutions)),
    ratios: z.array(z.enum(ratios)),
    sizes: z
      .record(z.string(), z.record(z.string(), z.string()))
      .meta({ description: '`WxH` by tier and ratio.' }),
    durations: z.strictObject({
      min: z.int(),
      max: z.int(),
      values: z.array(z.int()).optional().meta({
        description: 'The only lengths that the model makes; absent: all from min to max.',
      }),
      auto: z.boolean().meta({ description: 'True if -1 is accepted.' }),
    }),
    inputs: z.strictObject({
      types: z.array(z.enum(inputTypes)),
      reference_images_max: z.int(),
      videos_max: z.int(),
      audios_max: z.int(),
      audio_alone: z.boolean(),
      middle_frames: z.boolean(),
    }),
    features: z.strictObject({
      audio: z.boolean(),
      draft: z.boolean(),
      last_frame: z.boolean(),
      draft_last_frame: z
        .boolean()
        .meta({ description: 'True if a draft can have its last frame too.' }),
      tools: z.array(z.string()),
      tools_text_only: z.boolean(),
      modes: z.array(z.string()),
      super_resolution: z.boolean(),
      prompt_chars_max: z.int(),
    }),
    defaults: z.strictObject({
      resolution: z.enum(resolutions),
      ratio: z.enum(ratios),
      duration: z.int(),
    }),
    prices: z
      .array(
        z.strictObject({
          resolutions: z.array(z.enum(resolutions)).optional(),
          input_video: z.boolean().optional(),
          audio: z.boolean().optional(),
          currency: z.string(),
          per_million_tokens: amount,
        }),
      )
      .meta({
        description: 'The first row whose conditions all hold is the price of a million tokens.',
      }),
    plain_video: plainVideoSchema,
    super_resolution: z
      .strictObject({
        targets: z
          .record(z.string(), z.array(z.string()))
          .meta({ description: 'Allowed targets by base resolution.' }),
        prices: z.array(
          z.strictObject({
            resolution: z.string(),
            fps_max: z.int(),
            tool_version: z.string(),
            currency: z.string(),
            per_minute: amount,
          }),
        ),
      })
      .nullable(),
  })
  .meta({ id: 'Model' });
