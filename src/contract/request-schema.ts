// The create request as zod schemas: the shapes, words and ranges the document states, field by field. The parser
// checks with them, the OpenAPI document is generated from them. Rules between fields are the parser's; what a single
// model can do is the plan's. `wanted` is the sentence a caller reads when the field is not like that.

import { z } from 'zod';
import {
  enhancedResolutions,
  inputTypes,
  ratios,
  resolutions,
  scenes,
  toolVersions,
} from './vocabulary';

export interface Field {
  readonly schema: z.ZodType;
  readonly wanted: string;
}

const words = (list: readonly string[]) => list.map((word) => `"${word}"`).join(', ');
const numeric = /^-?\d+$/;
const inDuration = (seconds: number) => seconds === -1 || (seconds >= 4 && seconds <= 15);

const duration = z.union([
  z.literal(-1),
  z.int().min(4).max(15),
  z
    .string()
    .regex(numeric)
    .refine((text) => inDuration(Number(text))),
]);
const mediaUrl = z.string().min(1).max(2048);
const imagesExample = ['https://example.com/first.png', 'https://example.com/last.png'];

export const requestFields = {
  model: {
    schema: z.string().min(1).meta({
      description:
        'Model name. It decides the available resolutions, input types and prices; `GET /v1/models` lists them.',
      example: 'studio-2.0',
    }),
    wanted: 'must be the name of a model, a non-empty string',
  },
  prompt: {
    schema: z.string().regex(/\S/).meta({
      description:
        'Text prompt, not empty. Generator switches that would change what was priced (`--ratio`, `--dur` …) are refused.',
      example: 'A paper boat sails down a rainy street, low camera, evening light',
    }),
    wanted: 'must be a non-empty string',
  },
  mode: {
    schema: z.string().min(1).meta({
      description:
        'Common values `pro`, `fast`. It takes effect where the model maps that mode to another entry; a mode the name implies wins.',
      example: 'fast',
    }),
    wanted: 'must be a non-empty string, for example "pro" or "fast"',
  },
  input_type: {
    schema: z.enum(inputTypes).meta({
      description:
        'Inferred when omitted: `videos` → `reference`; two or more images → `first_last_frame`; one image, or audios alone → `reference`; nothing → `text_to_video`.',
    }),
    wanted: `must be one of ${words(inputTypes)}`,
  },
  image: {
    schema: mediaUrl.meta({
      description: 'Single-image compatibility field: `images[0]`. Not together with `images`.',
      deprecated: true,
    }),
    wanted: 'must be one public HTTPS image URL of at most 2048 characters, a string',
  },
  images: {
    schema: z.array(mediaUrl).max(9).meta({
      description:
        'Public HTTPS image URLs, at most 9. `first_last_frame`: the first and the last entry are those frames.',
      example: imagesExample,
    }),
    wanted: 'must be an array of at most 9 public HTTPS image URLs',
  },
  videos: {
    schema: z.array(mediaUrl).max(3).meta({ description: 'Public video URLs, at most 3.' }),
    wanted: 'must be an array of at most 3 public video URLs',
  },
  audios: {
    schema: z.array(mediaUrl).max(3).meta({ description: 'Public audio URLs, at most 3.' }),
    wanted: 'must be an array of at most 3 public audio URLs',
  },
  resolution: {
    schema: z.enum(['', ...resolutions]).meta({
      description:
        'Output tier; the default is the model’s, mostly `720p`. Empty counts as absent.',
      example: '720p',
    }),
    wanted: `must be one of ${words(resolutions)}`,
  },
  ratio: {
    schema: z.enum(ratios).meta({
      description: 'Width to height; the default is the model’s, mostly `adaptive`.',
      example: '16:9',
    }),
    wanted: `must be one of ${words(ratios)}`,
  },
  size: {
    schema: z.string().min(1).meta({
      description:
        'Legacy: a tier (`720p`) or dimensions from the model’s table (`1280x720`). Not looked at when `resolution` is sent.',
      deprecated: true,
    }),
    wanted: 'must be a non-empty string: a tier such as "720p" or dimensions such as "1280x720"',
  },
  duration: {
    schema: duration.meta({
      description:
        'Output seconds, 4 to 15 (narrower on some models), or -1: the model picks the length. Integer or numeric string.',
      example: 5,
    }),
    wanted: 'must be a whole number of seconds from 4 to 15, or -1, as a number or numeric string',
  },
  seconds: {
    schema: duration.meta({
      description: 'Legacy alias of `duration`; not looked at when `duration` is sent.',
      deprecated: true,
    }),
    wanted: 'must be a whole number of seconds from 4 to 15, or -1, as a number or numeric string',
  },
} satisfies Record<string, Field>;

const superResolutionParts = {
  resolution: {
    schema: z.enum(enhancedResolutions).meta({
      description:
        'Target tier, strictly above the base `resolution`. Exactly one of `resolution` and `resolution_limit`.',
    }),
    wanted: `must be one of ${words(enhancedResolutions)}`,
  },
  resolution_limit: {
    schema: z.int().min(64).max(2160).meta({
      description: 'Target short side in pixels, strictly above the short side of the base output.',
    }),
    wanted: 'must be a whole number of pixels from 64 to 2160',
  },
  scene: {
    schema: z.enum(scenes).meta({ description: 'Influences the strategy.' }),
    wanted: `must be one of ${words(scenes)}`,
  },
  tool_version: {
    schema: z
      .enum(toolVersions)
      .meta({ description: '`standard` (default) or `professional`, at ten times the price.' }),
    wanted: `must be one of ${words(toolVersions)}`,
  },
  fps: {
    schema: z.int().min(1).max(120).meta({
      description: 'Output frame rate; above the source’s, frames are interpolated.',
    }),
    wanted: 'must be a whole number from 1 to 120',
  },
} satisfies Record<string, Field>;
export const superResolutionFields: Readonly<Record<string, Field>> = superResolutionParts;

const flag = 'must be true or false (a JSON boolean, not a string)';
const tool = z.looseObject({
  type: z.string().min(1).meta({ description: '`web_search` turns on web search.' }),
});

const metadataParts = {
  generate_audio: {
    schema: z.boolean().meta({
      description: 'Synchronized audio; true unless the model is silent.',
    }),
    wanted: flag,
  },
  watermark: { schema: z.boolean().meta({ description: 'Default false.' }), wanted: flag },
  draft: {
    schema: z.boolean().meta({ description: 'Preview mode, always 480p. Default false.' }),
    wanted: flag,
  },
  seed: {
    schema: z.int().min(-1).max(4294967295).meta({
      description: 'Random when omitted, or -1. The seed used is shown in the reply.',
    }),
    wanted: 'must be a whole number from -1 to 4294967295',
  },
  return_last_frame: {
    schema: z.boolean().meta({
      description: 'Ask for the last frame as a picture (`data[0].last_frame_url`). Default false.',
    }),
    wanted: flag,
  },
  execution_expires_after: {
    schema: z.int().min(3600).max(259200).meta({
      description:
        'Seconds from acceptance until an unfinished task is failed and refunded. Default 172800.',
    }),
    wanted: 'must be a whole number of seconds from 3600 to 259200',
  },
  tools: {
    schema: z.union([z.array(tool), tool]).meta({
      description: 'An array of tools; a single object counts as an array of one.',
      example: [{ type: 'web_search' }],
    }),
    wanted: 'must be an array of objects with a "type", for example [{"type":"web_search"}]',
  },
  super_resolution_config: {
    schema: z
      .strictObject(optionals(superResolutionParts))
      .meta({ description: 'Chained super-resolution. `{}` is off.', id: 'SuperResolutionConfig' }),
    wanted: 'must be an object',
  },
  callback_url: {
    schema: z.string().min(1).max(1024).meta({
      description: 'Public HTTPS address that is called when the task is final.',
      example: 'https://example.com/hooks/video',
    }),
    wanted: 'must be a public HTTPS URL of at most 1024 characters, a string',
  },
  safety_identifier: {
    schema: z.string().min(1).max(64).meta({
      description: 'Unique identifier of the end user; hash it.',
    }),
    wanted: 'must be a string of 1 to 64 characters',
  },
  input_video_duration: {
    schema: z.number().gt(0).max(45).meta({
      description:
        'Seconds of the reference videos together; only for the estimate, without `videos` it has no effect.',
    }),
    wanted: 'must be a number of seconds above 0 and at most 45',
  },
} satisfies Record<string, Field>;
export const metadataFields: Readonly<Record<string, Field>> = metadataParts;

/** Names the service owns or prices; passed through they would change what was paid for. A closed list. */
export const ownedMetadataNames: readonly string[] = (
  'model content prompt resolution ratio duration seconds size frames framespersecond input_type mode image images ' +
  'videos audios service_tier priority draft_task output_format omni_reference_task_type'
).split(' ');

const metadataObject = z.looseObject(optionals(metadataParts)).meta({
  id: 'VideoMetadata',
  description:
    'Extension options. Names not listed here are passed to the generator unchanged, except those the service owns ' +
    `(${ownedMetadataNames.join(', ')}), which are refused.`,
});

export const videoRequestSchema = z
  .looseObject({
    model: requestFields.model.schema,
    prompt: requestFields.prompt.schema,
    ...optionals(without(requestFields, ['model', 'prompt'])),
    metadata: z
      .union([metadataObject, z.string().meta({ description: 'A string that holds that object.' })])
      .nullish(),
  })
  .meta({
    id: 'VideoRequest',
    description:
      'null and [] count as absent. Unknown names are ignored, except those that belong inside `metadata`.',
  });

function optionals(fields: Readonly<Record<string, Field>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema.nullish()]),
  );
}

function without(
  fields: Readonly<Record<string, Field>>,
  names: readonly string[],
): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
