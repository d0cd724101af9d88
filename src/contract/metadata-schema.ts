// zod schemas of `metadata` and its super-resolution part, field by field. Also the list of names
// that may not be passed through to a generator.

import { z } from 'zod';
import type { Field } from './field';
import { optionals, words } from './field';
import { labelsField } from './labels';
import { contractSeedMax, enhancedResolutions, scenes, toolVersions } from './vocabulary';

export const callbackField = {
  schema: z.string().min(1).max(1024).meta({
    format: 'uri',
    description: 'Public HTTPS address for the callback when the task is final.',
    example: 'https://example.com/hooks/video',
  }),
  wanted: 'must be a public HTTPS URL of at most 1024 characters, a string',
} satisfies Field;

const superResolutionParts = {
  resolution: {
    schema: z.enum(enhancedResolutions).meta({
      description:
        'Target tier, above the tier of the base video. Exactly one of `resolution` and `resolution_limit`.',
    }),
    wanted: `must be one of ${words(enhancedResolutions)}`,
  },
  resolution_limit: {
    schema: z.int().min(64).max(2160).meta({
      description:
        'Target short side in pixels, above that of the base video; with `adaptive`, above the largest short side of the tier in `sizes`.',
    }),
    wanted: 'must be a whole number of pixels from 64 to 2160',
  },
  scene: {
    schema: z
      .enum(scenes)
      .meta({ description: 'The kind of the video; it influences the enhancement.' }),
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
      description: 'Frame rate; above the 24 of the base video, frames are interpolated.',
    }),
    wanted: 'must be a whole number from 1 to 120',
  },
} satisfies Record<string, Field>;
export const superResolutionFields: Readonly<Record<string, Field>> = superResolutionParts;
export const superResolutionSchema = z
  .strictObject(optionals(superResolutionParts))
  .meta({ description: 'Chained super-resolution. `{}` is off.', id: 'SuperResolutionConfig' });

const flag = 'must be true or false (a JSON boolean, not a string)';
// The maximum number of tools. It is above the number of tools of any generator.
const toolsMax = 16;
const tool = z.looseObject({
  type: z.string().min(1).meta({ description: '`web_search` turns on web search.' }),
});

const metadataParts = {
  generate_audio: {
    schema: z.boolean().meta({
      description:
        'Synchronized audio; default true, false for a silent model, which refuses true.',
    }),
    wanted: flag,
  },
  watermark: {
    schema: z.boolean().meta({ description: 'Adds a watermark; default false.' }),
    wanted: flag,
  },
  draft: {
    schema: z.boolean().meta({
      description:
        'Preview mode, if the model has one; always 480p, another tier is refused. Default false.',
    }),
    wanted: flag,
  },
  seed: {
    schema: z.int().min(-1).max(contractSeedMax).meta({
      description: 'Random if absent or -1. The finished task shows the seed that was used.',
    }),
    wanted: `must be a whole number from -1 to ${contractSeedMax}`,
  },
  return_last_frame: {
    schema: z.boolean().meta({
      description:
        'Returns the last frame of the base video as a picture in `data[0].last_frame_url`. Super-resolution does not change its size. Default false.',
    }),
    wanted: flag,
  },
  execution_expires_after: {
    schema: z.number().min(3600).max(259200).meta({
      description:
        'Seconds from acceptance until an unfinished task fails and is refunded, with its time in queues. A fraction is rounded up. Default 172800.',
    }),
    wanted: 'must be a number of seconds from 3600 to 259200',
  },
  tools: {
    schema: z.array(tool).max(toolsMax),
    wanted:
      `must be an array of at most ${toolsMax} objects with a "type", ` +
      'for example [{"type":"web_search"}]',
    each: 'each tool must be an object with a "type", for example {"type":"web_search"}',
  },
  super_resolution_config: {
    schema: superResolutionSchema,
    wanted: 'must be an object',
  },
  callback_url: callbackField,
  safety_identifier: {
    schema: z.string().min(1).max(64).meta({
      description: 'A hashed identifier of your user.',
    }),
    wanted: 'must be a string of 1 to 64 characters',
  },
  input_video_duration: {
    schema: z.number().gt(0).max(45).meta({
      description:
        'Seconds of the reference videos together, for the `estimate` of a quote. It only raises the hold, unless the operator trusts the account. No effect without `videos`.',
    }),
    wanted: 'must be a number of seconds above 0 and at most 45',
  },
  labels: labelsField,
} satisfies Record<string, Field>;
export const metadataFields: Readonly<Record<string, Field>> = metadataParts;

/**
 * Names that the service sets, prices or reads itself. If such a name were passed through, the
 * generator could make a video that was not priced. Case is ignored, because many servers ignore
 * the case of JSON names.
 */
export const ownedMetadataNames: readonly string[] = (
  'model content prompt resolution ratio duration seconds size frames framespersecond input_type mode image images ' +
  'videos audios service_tier priority draft_task output_format omni_reference_task_type output_upload_url'
).split(' ');

// `tools` may be sent as a list or as a single tool, and the document shows both forms. The parser
// turns a single tool into a list of one before it validates the field.
const toolsAsSent = z
  .union([z.array(tool).max(toolsMax), tool])
  .nullish()
  .meta({
    description:
      'At most 16 objects with a `type` that the model offers (`web_search`); other fields are passed on. One object counts as a list of one.',
    example: [{ type: 'web_search' }],
  });

export const metadataSchema = z
  .looseObject({ ...optionals(metadataParts), tools: toolsAsSent })
  .meta({
    id: 'VideoMetadata',
    description:
      'Extension options. Names not listed here are passed to the generator unchanged and listed in the header X-Passed-Fields. ' +
      'Refused are names that resemble a field, and those the service owns ' +
      `(${ownedMetadataNames.join(', ')}) in any spelling.`,
  });
