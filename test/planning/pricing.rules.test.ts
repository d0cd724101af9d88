// Compares holds and charges with the counted tokens of real videos. Each hold must cover its
// settlement. The settlement must be exactly the price of the counted tokens.

import type { Model, Size } from '../../src/catalogue/catalogue.rules';
import type { FixedRatio, Ratio, Resolution } from '../../src/contract/vocabulary';
import { holdFor, type Priced, settlementFor, total } from '../../src/planning/pricing.rules';
import { aPlan } from '../support/builders';
import { theCatalogue } from '../support/catalogue';

const catalogue = theCatalogue();
const modelOf = (id: string): Model => catalogue.models[id]!;

/** A newer family of models with other prices, and with other sizes in the smallest tier. */
const family25: Model = {
  ...modelOf('studio-2.0'),
  id: 'studio-2.5',
  pixels: withSizes({ '16:9': { width: 854, height: 480 }, '9:16': { width: 480, height: 854 } }),
  prices: [
    { resolutions: ['480p', '720p'], inputVideo: false, microsPerMillionTokens: 70_000_000 },
    { resolutions: ['480p', '720p'], inputVideo: true, microsPerMillionTokens: 42_000_000 },
    { resolutions: ['1080p'], inputVideo: false, microsPerMillionTokens: 77_000_000 },
    { resolutions: ['1080p'], inputVideo: true, microsPerMillionTokens: 46_000_000 },
  ],
};

function withSizes(smallest: Partial<Record<FixedRatio, Size>>): Model['pixels'] {
  const { pixels } = modelOf('studio-2.0');
  return { ...pixels, '480p': { ...pixels['480p']!, ...smallest } };
}

function priced(over: Partial<Priced> & { model: Model }): Priced {
  return {
    currency: 'CNY',
    resolution: '720p',
    ratio: '16:9',
    durationSeconds: 5,
    hasVideo: false,
    referenceMs: 0,
    draft: false,
    audio: over.model.audio ? true : null,
    enhancement: null,
    superResolution: catalogue.superResolution,
    ...over,
  };
}

const settled = (task: Priced, completionTokens: number | null, outputMilliseconds = 5_000) => {
  const { price, hold } = holdFor(task);
  return settlementFor(aPlan({ price, hold }), { completionTokens, outputMilliseconds });
};

interface Sample {
  readonly model?: Model;
  readonly resolution?: Resolution;
  readonly ratio?: Ratio;
  readonly seconds: number;
  readonly reference?: number;
  /** Tokens as the generator counted them. */
  readonly tokens: number;
  /** The expected maximum, for the hold. */
  readonly held: number;
  readonly charged: number;
}

describe('videos with known token counts', () => {
  test.each<[string, Sample]>([
    ['4 s', { seconds: 4, tokens: 87_300, held: 87_300, charged: 4_015_800 }],
    ['5 s', { seconds: 5, tokens: 108_900, held: 108_900, charged: 5_009_400 }],
    ['7 s', { seconds: 7, tokens: 152_100, held: 152_100, charged: 6_996_600 }],
    [
      '4 s after 4 s of reference video',
      { seconds: 4, reference: 4, tokens: 173_700, held: 173_700, charged: 4_863_600 },
    ],
    [
      '6 s in 480p upright of the newer family',
      {
        model: family25,
        resolution: '480p',
        ratio: '9:16',
        seconds: 6,
        tokens: 58_045,
        held: 58_046,
        charged: 4_063_150,
      },
    ],
    [
      '4 s of 528×798, its size taken from the input',
      {
        model: family25,
        resolution: '480p',
        ratio: 'adaptive',
        seconds: 4,
        tokens: 39_912,
        held: 41_001,
        charged: 2_793_840,
      },
    ],
    [
      '5 s of 786×1180, its size taken from the input',
      {
        model: family25,
        ratio: 'adaptive',
        seconds: 5,
        tokens: 109_594,
        held: 110_683,
        charged: 7_671_580,
      },
    ],
    [
      '5 s with a short clip, counted at the floor',
      { seconds: 5, reference: 2, tokens: 194_400, held: 194_400, charged: 5_443_200 },
    ],
    [
      '5 s with a clip of 4 s, counted at the floor',
      { seconds: 5, reference: 4, tokens: 194_400, held: 195_300, charged: 5_443_200 },
    ],
    [
      '5 s of 1080p with a short clip, counted at the floor',
      {
        resolution: '1080p',
        seconds: 5,
        reference: 2,
        tokens: 437_400,
        held: 437_400,
        charged: 13_559_400,
      },
    ],
  ])('the charge for %s is exact, and the hold covers this charge', (_, sample) => {
    const { model = modelOf('studio-2.0'), reference, seconds, tokens, held, charged } = sample;
    const task = priced({
      model,
      resolution: sample.resolution ?? '720p',
      ratio: sample.ratio ?? '16:9',
      durationSeconds: seconds,
      hasVideo: reference !== undefined,
      referenceMs: (reference ?? 0) * 1000,
    });
    const { hold } = holdFor(task);
    expect(hold.tokens).toBe(held);
    const charge = total(settled(task, tokens));
    expect(charge).toBe(charged);
    expect(hold.amountMicros).toBeGreaterThanOrEqual(charge);
  });

  // The examples of the price list do not count the additional frame that the generator counts.
  test.each<[string, string, Resolution, number, number]>([
    ['480p', 'studio-2.0', '480p', 50_220, 2_310_120],
    ['720p', 'studio-2.0', '720p', 108_000, 4_968_000],
    ['1080p', 'studio-2.0', '1080p', 243_000, 12_393_000],
    ['4k', 'studio-2.0-pro', '4k', 972_000, 25_272_000],
    ['720p, fast', 'studio-2.0-fast', '720p', 108_000, 3_996_000],
  ])(
    'the charge for 5 s in %s equals the example of the price list',
    (_, model, resolution, tokens, charged) => {
      const task = priced({ model: modelOf(model), resolution });
      expect(total(settled(task, tokens))).toBe(charged);
      expect(holdFor(task).hold.amountMicros).toBeGreaterThanOrEqual(charged);
    },
  );

  test('the hold of every model, tier, ratio and length covers the tokens of its frames', () => {
    const short: string[] = [];
    for (const { model, resolution, ratio, seconds, reference } of everyCombination()) {
      const { width, height } = model.pixels[resolution]![ratio]!;
      const task = priced({
        model,
        resolution,
        ratio,
        durationSeconds: seconds,
        hasVideo: reference > 0,
        referenceMs: reference * 1000,
      });
      const frames = Math.floor(24 * (reference + seconds) + 1);
      const floor = reference > 0 ? 24 * Math.ceil((seconds * 5) / 3) : 0;
      const counted = Math.floor((Math.max(frames, floor) * width * height) / 1024);
      const { hold } = holdFor(task);
      const adaptive = holdFor({ ...task, ratio: 'adaptive' }).hold;
      // The hold must also not be much larger than the count. A part of a frame of reference video
      // may be held as a whole frame.
      const most = counted + 1 + (Number.isInteger(reference) ? 0 : 1 + (width * height) / 1024);
      if (hold.tokens < counted || adaptive.tokens < counted || hold.tokens > most) {
        short.push(`${model.id} ${resolution} ${ratio} ${seconds}+${reference}`);
      }
    }
    expect(short).toEqual([]);
  });
});

function* everyCombination() {
  for (const model of [...Object.values(catalogue.models), family25]) {
    for (const resolution of model.resolutions) {
      for (const ratio of Object.keys(model.pixels[resolution]!) as FixedRatio[]) {
        for (const seconds of [4, 5, 7, 10, 15]) {
          for (const reference of model.inputs.videosMax > 0 ? [0, 2, 7.3, 15] : [0]) {
            yield { model, resolution, ratio, seconds, reference };
          }
        }
      }
    }
  }
}

describe('the hold for unknown lengths and sizes', () => {
  const base = priced({ model: modelOf('studio-2.0') });
  test.each<[string, Partial<Priced>, Partial<Priced>]>([
    ['a length that the model picks', { durationSeconds: -1 }, { durationSeconds: 15 }],
  ])('is computed with 15 s for %s', (_, unsaid, longest) => {
    expect(holdFor({ ...base, ...unsaid })).toEqual(holdFor({ ...base, ...longest }));
  });

  test('does not use a length of reference videos without a reference video', () => {
    expect(holdFor({ ...base, referenceMs: 9_000 })).toEqual(holdFor(base));
  });

  test('counts a part of a frame as a whole frame', () => {
    const task = { ...base, hasVideo: true, referenceMs: 5_010 };
    // 24 × 10.01 = 240.24 frames are rounded up to 241. One more frame is always counted.
    expect(holdFor(task).hold.tokens).toBe(242 * 900);
  });

  test('of an adaptive video uses the largest size of its tier plus one per cent', () => {
    // The largest 480p size of the older family is 864×480, which is 405 tokens per frame.
    const older = priced({ model: modelOf('studio-1.0'), resolution: '480p', ratio: 'adaptive' });
    expect(holdFor(older).hold.tokens).toBe(Math.ceil(121 * 405 * 1.01));
  });
});

describe('the price per million tokens', () => {
  test.each<[string, Partial<Priced> & { model: Model }, number]>([
    ['720p', { model: modelOf('studio-2.0') }, 46_000_000],
    ['720p with video', { model: modelOf('studio-2.0'), hasVideo: true }, 28_000_000],
    ['1080p', { model: modelOf('studio-2.0'), resolution: '1080p' }, 51_000_000],
    [
      '1080p with video',
      { model: modelOf('studio-2.0'), resolution: '1080p', hasVideo: true },
      31_000_000,
    ],
    ['4k', { model: modelOf('studio-2.0-pro'), resolution: '4k' }, 26_000_000],
    [
      '4k with video',
      { model: modelOf('studio-2.0-pro'), resolution: '4k', hasVideo: true },
      16_000_000,
    ],
    ['fast', { model: modelOf('studio-2.0-fast') }, 37_000_000],
    ['fast with video', { model: modelOf('studio-2.0-fast'), hasVideo: true }, 22_000_000],
    ['1.5 with audio', { model: modelOf('studio-1.5-pro') }, 16_000_000],
    ['1.5 silent', { model: modelOf('studio-1.5-pro'), audio: false }, 8_000_000],
    ['1.0', { model: modelOf('studio-1.0') }, 15_000_000],
    ['a model whose prices do not depend on audio', { model: family25, audio: false }, 70_000_000],
  ])('is the expected one for %s', (_, task, perMillion) => {
    expect(holdFor(priced(task)).price.microsPerMillionTokens).toBe(perMillion);
  });
});

describe('a draft', () => {
  const draft = (audio: boolean) =>
    priced({ model: modelOf('studio-1.5-pro'), resolution: '480p', draft: true, audio });

  test.each([
    // 121 frames of 418.5 tokens are 50,638.5 tokens. A silent draft counts 0.7 of them, a draft
    // with sound 0.6.
    ['silent', false, 35_447, 283_576],
    ['with sound', true, 30_384, 486_144],
  ])(
    'that is %s has a hold for the reduced number of tokens that the generator counts for such drafts',
    (_, audio, tokens, amountMicros) => {
      expect(holdFor(draft(audio)).hold).toMatchObject({ tokens, amountMicros });
    },
  );

  test('is charged for exactly the reported tokens, because the generator has already reduced them', () => {
    expect(settled(draft(false), 35_446)).toEqual([
      { kind: 'generation', quantity: 35_446, unitPriceMicros: 8_000_000, amountMicros: 283_568 },
    ]);
  });
});

describe('super-resolution', () => {
  const enhanced = (over: Partial<NonNullable<Priced['enhancement']>>, seconds = 15) =>
    priced({
      model: modelOf('studio-2.0'),
      durationSeconds: seconds,
      enhancement: {
        channels: [],
        resolution: '1080p',
        resolutionLimit: null,
        scene: null,
        toolVersion: 'standard',
        fps: null,
        ...over,
      },
    });
  const limit = (resolutionLimit: number) => ({ resolution: null, resolutionLimit });

  test.each<[string, Partial<NonNullable<Priced['enhancement']>>, number]>([
    ['720p', { resolution: '720p' }, 750_000],
    ['1080p', {}, 1_500_000],
    ['2k', { resolution: '2k' }, 3_000_000],
    ['4k', { resolution: '4k' }, 6_000_000],
    ['30 frames per second', { fps: 30 }, 1_500_000],
    ['31 frames per second', { fps: 31 }, 3_000_000],
    ['60 frames per second', { fps: 60 }, 3_000_000],
    ['61 frames per second', { fps: 61 }, 6_000_000],
    ['120 frames per second in 4k', { resolution: '4k', fps: 120 }, 24_000_000],
    ['a short side of 64, counted as 720p', limit(64), 750_000],
    ['a short side of 720, counted as 720p', limit(720), 750_000],
    ['a short side of 721, counted as 1080p', limit(721), 1_500_000],
    ['a short side of 1080, counted as 1080p', limit(1080), 1_500_000],
    ['a short side of 1440, counted as 2k', limit(1440), 3_000_000],
    ['a short side of 1441, counted as 4k', limit(1441), 6_000_000],
    ['a short side of 2160, counted as 4k', limit(2160), 6_000_000],
  ])(
    'has the expected price per minute for %s, and the version `professional` costs ten times as much',
    (_, over, perMinute) => {
      const priceOf = (toolVersion: 'standard' | 'professional') =>
        holdFor(enhanced({ ...over, toolVersion })).price.enhancementMicrosPerMinute;
      expect(priceOf('standard')).toBe(perMinute);
      expect(priceOf('professional')).toBe(perMinute * 10);
    },
  );

  test.each([
    ['standard', 1_504_200],
    ['professional', 15_042_000],
  ] as const)(
    'of 15 s to 4k with the version `%s` has its own line in the hold',
    (toolVersion, amountMicros) => {
      const { hold } = holdFor(enhanced({ resolution: '4k', toolVersion }));
      expect(hold.lines.map(({ kind }) => kind)).toEqual(['generation', 'super_resolution']);
      expect(hold.lines[1]).toMatchObject({ quantity: 15_042, amountMicros });
      expect(hold.amountMicros).toBe((hold.lines[0]?.amountMicros ?? 0) + amountMicros);
    },
  );

  test('of an automatic length has a hold for 15 s and a charge for the real length', () => {
    const task = enhanced({}, -1);
    expect(holdFor(task).hold.lines[1]).toMatchObject({ quantity: 15_042, amountMicros: 376_050 });
    expect(settled(task, 1, 7_042)[1]).toMatchObject({ quantity: 7_042, amountMicros: 176_050 });
  });

  test('costs exactly ten times as much with the version `professional`, also if prices must be rounded', () => {
    const offer = catalogue.superResolution!;
    const odd = {
      ...offer,
      microsPerMinute: 206_601,
      coefficients: { ...offer.coefficients, '1080p': [1.15, 2, 3] as const },
    };
    const priceOf = (toolVersion: 'standard' | 'professional') =>
      holdFor({ ...enhanced({ toolVersion }), superResolution: odd }).price
        .enhancementMicrosPerMinute;
    // 206,601 × 1.15 = 237,591.15, which is rounded up.
    expect([priceOf('standard'), priceOf('professional')]).toEqual([237_592, 2_375_920]);
  });
});

describe('the amount of a line', () => {
  const odd: Model = {
    ...modelOf('studio-1.0'),
    prices: [{ microsPerMillionTokens: 1_500_001 }],
  };

  test.each([
    [0, 0],
    [1, 2], // 1.500001
    [2, 4], // 3.000002
    [999_999, 1_500_000], // 1,499,999.499999
    [1_000_000, 1_500_001], // exact
  ])(
    'for %i tokens at 1.500001 per million is rounded up to %i micro-units',
    (tokens, amountMicros) => {
      expect(settled(priced({ model: odd }), tokens)[0]?.amountMicros).toBe(amountMicros);
    },
  );

  test('is rounded in the same way in hold and settlement, so a settlement with the tokens of the hold equals the hold', () => {
    const task = priced({ model: odd });
    const { hold } = holdFor(task);
    expect(settled(task, hold.tokens)).toEqual(hold.lines);
    expect(settled(task, null)).toEqual(hold.lines);
  });

  test('is refused with an error if the amount is not a safe integer', () => {
    expect(() => settled(priced({ model: odd }), Number.MAX_SAFE_INTEGER)).toThrow(/safe integer/);
  });
});
