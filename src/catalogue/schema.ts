// The schema of the catalogue file, with a sentence for each fault. Unknown names are refused. A
// misspelt capability would otherwise be off without a warning. Amounts in the file are decimal
// numbers of the currency. All other code gets these amounts as integer micro-units.

import { z } from 'zod';
import {
  contractSeconds,
  enhancedResolutions,
  type FixedRatio,
  inputTypes,
  ratios,
  resolutions,
  secondsMax,
} from '../contract/vocabulary';

const name = z
  .string({
    error: ({ input }) =>
      input === undefined ? 'is missing' : `must be text; got ${JSON.stringify(input)}`,
  })
  .min(1, 'must not be empty');
const words = (list: readonly string[]) => list.map((word) => `"${word}"`).join(', ');
const oneOf = <const T extends readonly string[]>(list: T) =>
  z.enum(list, {
    error: ({ input }) => `must be one of ${words(list)}; got ${JSON.stringify(input)}`,
  });
const whole = (min: number, max: number) =>
  z
    .int({ error: ({ input }) => `must be a whole number; got ${JSON.stringify(input)}` })
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);
const flag = z.boolean({
  error: ({ input }) => `must be true or false; got ${JSON.stringify(input)}`,
});
const some = <T extends z.ZodType>(item: T) => z.array(item).min(1, 'must name at least one');

/** Reads an amount such as 0.75 or "0.75", and returns exact integer micro-units. */
const amount = z
  .union([z.string(), z.number()], { error: 'must be an amount such as "46" or "0.75"' })
  .transform(String)
  // The limit is far above any real price, and the price of the longest video stays a safe integer.
  .refine((text) => /^\d{1,6}(\.\d{1,6})?$/.test(text), {
    error: ({ input }) =>
      `must be an amount below 1000000 with at most six decimals; got ${JSON.stringify(input)}`,
  })
  .transform((text) => {
    const [units = '0', fraction = ''] = text.split('.');
    return Number(units) * 1_000_000 + Number(fraction.padEnd(6, '0'));
  })
  // Every task needs a hold, and the ledger has no transfers of zero.
  .refine((micros) => micros > 0, 'must be more than 0');

/**
 * A factor of a price, with two decimals at most. Prices are calculated with whole hundredths of a
 * factor, so no factor is rounded.
 */
const factor = z
  .number({ error: ({ input }) => `must be a number; got ${JSON.stringify(input)}` })
  .gt(0, 'must be more than 0')
  .refine((value) => /^\d{1,6}(\.\d{1,2})?$/.test(String(value)), {
    error: ({ input }) => `must have at most two decimals; got ${JSON.stringify(input)}`,
  });

const keyName = z
  .string('must be the name of an environment variable')
  .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable');
// A colon stands between the name of a channel and the name of one of its further keys.
const channelName = name.refine((text) => !text.includes(':'), 'must not contain a colon');
const jobsMax = whole(0, 1_000_000).nullable();

const channel = z.strictObject({
  // schemaWith replaces it by the names of the protocols.
  protocol: z.string(),
  profile: name.nullable().default(null),
  baseUrl: name,
  apiKeyEnv: keyName,
  moreKeys: z
    .array(z.strictObject({ apiKeyEnv: keyName, jobsInFlightMax: jobsMax.optional() }))
    .default([]),
  requestTimeoutMs: whole(100, 600_000).default(30_000),
  // The alerts about watchers expect a round within a minute.
  pollIntervalMs: whole(100, 30_000).default(3_000),
  jobsInFlightMax: jobsMax.default(null),
  honoursIdempotencyKey: flag.default(false),
  hasList: flag.default(true),
  listLagMs: whole(0, 3_600_000).default(60_000),
});

const dimensions = 'must be dimensions such as 1280x720';
const size = z.string({ error: dimensions }).regex(/^[1-9]\d{1,4}x[1-9]\d{1,4}$/, dimensions);
const fixedRatios: readonly FixedRatio[] = ratios.filter((ratio) => ratio !== 'adaptive');
const sizes = z.partialRecord(oneOf(fixedRatios), size);
const pixelTable = z.partialRecord(oneOf(resolutions), sizes);

const price = z.strictObject({
  resolutions: some(oneOf(resolutions)).optional(),
  inputVideo: flag.optional(),
  audio: flag.optional(),
  perMillionTokens: amount,
});

const seconds = whole(1, secondsMax);
// A range (`min` and `max`) or a list (`values`); faults.ts checks that it is one of them.
const durations = z.strictObject({
  min: seconds.optional(),
  max: seconds.optional(),
  values: some(seconds).optional(),
  auto: flag.default(false),
});

const tokensByTier = z.partialRecord(oneOf(resolutions), whole(1, 100_000_000));
const meter = z.union(
  [
    z.literal('reported'),
    z.strictObject({ perSecond: tokensByTier, inputSeconds: flag.default(false) }),
    z.strictObject({ perJob: tokensByTier }),
  ],
  { error: 'must be reported, or have the tokens of each tier in perSecond or perJob' },
);

const amountByTier = z.partialRecord(oneOf(resolutions), amount);
const cost = z.union(
  [
    z.strictObject({ perMillionTokens: amount }),
    z.strictObject({ perSecond: amountByTier, inputSeconds: flag.default(false) }),
    z.strictObject({ perJob: amountByTier }),
  ],
  { error: 'must have perMillionTokens, or the amount of each tier in perSecond or perJob' },
);

const amountByTarget = z.partialRecord(oneOf(enhancedResolutions), amount);
const enhancementCost = z.union(
  [
    z.strictObject({ perMinute: amount }),
    z.strictObject({ perSecond: amountByTarget }),
    z.strictObject({ perJob: amountByTarget }),
  ],
  { error: 'must have perMinute, or the amount of each tier in perSecond or perJob' },
);

const model = z.strictObject({
  channels: some(
    z.strictObject({
      channel: name,
      upstreamModel: name,
      meter: meter.default('reported'),
      cost: cost.optional(),
      weight: whole(1, 1_000_000).optional(),
    }),
  ),
  modes: z.record(name, name).default({}),
  impliedMode: name.nullable().default(null),
  resolutions: some(oneOf(resolutions)),
  ratios: some(oneOf(ratios)),
  pixels: name,
  durations: durations.default({ ...contractSeconds, auto: true }),
  inputs: z.strictObject({
    types: some(oneOf(inputTypes)),
    referenceImagesMax: whole(0, 9).default(0),
    videosMax: whole(0, 3).default(0),
    audiosMax: whole(0, 3).default(0),
    audioAlone: flag.default(false),
    middleFrames: flag.default(false),
  }),
  audio: flag,
  draft: z
    .strictObject({
      silentFactor: factor.lte(1, 'must be at most 1'),
      audioFactor: factor.lte(1, 'must be at most 1'),
      lastFrame: flag.default(true),
    })
    .nullable()
    .default(null),
  tools: z.array(name).default([]),
  toolsTextOnly: flag.default(false),
  lastFrame: flag,
  promptCharsMax: whole(1, 100_000).default(10_000),
  defaults: z.strictObject({
    resolution: oneOf(resolutions),
    ratio: oneOf(ratios),
    durationSeconds: z.union([z.literal(-1), seconds]),
  }),
  prices: some(price),
  retires: z.iso.date('must be a date such as 2027-01-31').nullable().default(null),
  replacedBy: name.nullable().default(null),
  afterRetirement: oneOf(['refuse', 'move']).default('refuse'),
});

const coefficients = z.tuple([factor, factor, factor], {
  error: 'must be three coefficients: up to 30, 60 and 120 frames per second',
});

const catalogueFile = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency code such as CNY'),
  channels: z.record(channelName, channel),
  pixelTables: z.record(name, pixelTable),
  models: z.record(
    z.string().regex(/^[\w.-]{1,80}$/, 'a model name is made of letters, digits, ".", "-" and "_"'),
    model,
  ),
  superResolution: z
    .strictObject({
      channels: some(name),
      costs: z.record(name, enhancementCost).default({}),
      perMinute: amount,
      factors: z.strictObject({ standard: whole(1, 1000), professional: whole(1, 1000) }),
      coefficients: z.strictObject({
        '720p': coefficients,
        '1080p': coefficients,
        '2k': coefficients,
        '4k': coefficients,
      }),
    })
    .nullable()
    .default(null),
  priceLists: z
    .record(
      name,
      z.strictObject({
        factor: factor.lte(10, 'must be at most 10').default(1),
        models: z.record(name, some(price)).default({}),
        superResolutionPerMinute: amount.nullable().default(null),
      }),
    )
    .default({}),
  // A hold covers what a task costs. Three times as much is a fault of a figure, not of the hold.
  chargeMaxFactor: z
    .number({ error: ({ input }) => `must be a number; got ${JSON.stringify(input)}` })
    .gte(1, 'must be at least 1')
    .lte(1000, 'must be at most 1000')
    .default(3),
  // Contains YAML anchors that several entries share. The service ignores this key.
  shared: z.unknown().optional(),
});

/** The schema of a file whose channels may speak these protocols. */
export function schemaWith(protocols: readonly string[]) {
  const known = channel.extend({ protocol: oneOf(protocols) });
  return catalogueFile.extend({ channels: z.record(channelName, known) });
}

export type CatalogueFile = z.infer<typeof catalogueFile>;
export type ModelEntry = CatalogueFile['models'][string];
