// zod schemas of the create request, field by field. The parser and the OpenAPI document both use
// them. Rules between fields are in the parser, and the abilities of models are in the plan. If a
// field is invalid, the caller gets the sentence `wanted`.

import { z } from 'zod';
import type { Field } from './field';
import { optionals, words } from './field';
import { metadataSchema } from './metadata-schema';
import {
  contractRatios,
  contractResolutions,
  inputTypes,
  ratios,
  resolutions,
  secondsMax,
} from './vocabulary';

const numeric = /^-?\d+$/;
// The catalogue says which of these lengths a model makes; the plan checks that.
const inDuration = (seconds: number) => seconds === -1 || (seconds >= 1 && seconds <= secondsMax);

const duration = z.union([
  z.literal(-1),
  z.int().min(1).max(secondsMax),
  z
    .string()
    .regex(numeric)
    .refine((text) => inDuration(Number(text))),
]);
const mediaUrl = z.string().min(1).max(2048);
const eachUrl = 'must be a URL of at most 2048 characters, a non-empty string';
const imagesExample = ['https://example.com/first.png', 'https://example.com/last.png'];

export const requestFields = {
  model: {
    schema: z.string().min(1).meta({
      description: 'Decides abilities and price; `GET /v1/models` lists the models of the key.',
      example: 'studio-2.0',
    }),
    wanted: 'must be the name of a model, a non-empty string',
  },
  prompt: {
    schema: z.string().regex(/\S/).meta({
      description:
        'Not blank; at most 10,000 characters without the space around it, or the model’s own limit. Switches that would change the price (`--ratio`, `--dur` …) are refused.',
      example: 'A paper boat sails down a rainy street, low camera, evening light',
    }),
    wanted: 'must be a non-empty string',
  },
  mode: {
    schema: z.string().min(1).meta({
      description:
        'A variant of the model: with `studio-2.0`, the mode `fast` means `studio-2.0-fast`, with its abilities and price. `features.modes` of a model lists its modes; another value is ignored.',
      example: 'fast',
    }),
    wanted: 'must be a non-empty string, for example "pro" or "fast"',
  },
  input_type: {
    schema: z.enum(inputTypes).meta({
      description:
        'Inferred if absent: `videos` → `reference`; two or more images → `first_last_frame`; one image, or audios alone → `reference`; nothing → `text_to_video`.',
    }),
    wanted: `must be one of ${words(inputTypes)}`,
  },
  image: {
    schema: mediaUrl.meta({
      description: 'Older form of `images[0]`; not together with `images`.',
      deprecated: true,
    }),
    wanted: 'must be one public HTTPS image URL of at most 2048 characters, a string',
  },
  images: {
    schema: z.array(mediaUrl).max(9).meta({
      description:
        'At most 9 public HTTPS addresses or uploaded files (`file_…`). `first_last_frame`: the first and the last entry are those frames.',
      example: imagesExample,
    }),
    wanted: 'must be an array of at most 9 public HTTPS image URLs',
    each: eachUrl,
  },
  videos: {
    schema: z
      .array(mediaUrl)
      .max(3)
      .meta({ description: 'At most 3 public HTTP(S) addresses or uploaded files.' }),
    wanted: 'must be an array of at most 3 public video URLs',
    each: eachUrl,
  },
  audios: {
    schema: z
      .array(mediaUrl)
      .max(3)
      .meta({ description: 'At most 3 public HTTP(S) addresses or uploaded files.' }),
    wanted: 'must be an array of at most 3 public audio URLs',
    each: eachUrl,
  },
  resolution: {
    schema: z.enum(['', ...resolutions]).meta({
      description:
        'The tier; the default is the model’s, mostly `720p`. An empty text counts as absent. A tier other than `480p`, `720p`, `1080p` and `4k` only for a model that lists it.',
      example: '720p',
    }),
    wanted: `must be one of ${words(contractResolutions)}`,
  },
  ratio: {
    schema: z.enum(ratios).meta({
      description:
        'Width to height; the default is the model’s, mostly `adaptive`. `3:2`, `2:3` and `9:21` only for a model that lists them.',
      example: '16:9',
    }),
    wanted: `must be one of ${words(contractRatios)}`,
  },
  size: {
    schema: z.string().min(1).meta({
      description:
        'Older form: a tier (`720p`) or dimensions of the model (`1280x720`, `1280*720`). Ignored if `resolution` is sent.',
      deprecated: true,
    }),
    wanted: 'must be a non-empty string: a tier such as "720p" or dimensions such as "1280x720"',
  },
  duration: {
    schema: duration.meta({
      description:
        'Whole seconds, 4 to 15 or the model’s own `durations`; -1: the model chooses the length. The default is mostly 5.',
      example: 5,
    }),
    wanted:
      'must be a whole number of seconds, mostly from 4 to 15, or -1 for a length that the model picks, as a number or numeric string',
  },
  seconds: {
    schema: duration.meta({
      description: 'Older form of `duration`; ignored if `duration` is sent.',
      deprecated: true,
    }),
    wanted:
      'must be a whole number of seconds, mostly from 4 to 15, or -1 for a length that the model picks, as a number or numeric string',
  },
} satisfies Record<string, Field>;

export const videoRequestSchema = z
  .looseObject({
    model: requestFields.model.schema,
    prompt: requestFields.prompt.schema,
    ...optionals(without(requestFields, ['model', 'prompt'])),
    metadata: z
      .union([metadataSchema, z.string().meta({ description: 'A string that holds that object.' })])
      .nullish()
      .meta({ description: 'Options, as an object or as a string that contains a JSON object.' }),
  })
  .meta({
    id: 'VideoRequest',
    description:
      'null and [] count as absent. Unknown names are ignored and listed in the header X-Ignored-Fields; those that belong inside `metadata` or resemble a field are refused.',
  });

function without(
  fields: Readonly<Record<string, Field>>,
  names: readonly string[],
): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
