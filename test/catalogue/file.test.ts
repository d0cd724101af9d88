// Tests the catalogue file. The tests show the models and prices of the shipped files. All faults
// of an invalid file must be reported at once, with their paths.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { protocols } from '../../activities/providers/protocols';
import { CatalogueError, parseCatalogue as parseWith } from '../../src/catalogue/file';
import { schemaWith } from '../../src/catalogue/schema';
import { planTask } from '../../src/planning/plan.rules';
import { aRequest } from '../support/builders';
import {
  arkCatalogueText,
  catalogueText,
  parseCatalogue,
  theCatalogue,
} from '../support/catalogue';

function faultsOf(text: string, environment: Record<string, string> = {}): readonly string[] {
  try {
    parseCatalogue(text, environment);
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

/**
 * Returns the shipped file with other values at these paths. The value undefined removes a path.
 */
function withChanges(changes: Readonly<Record<string, unknown>>): string {
  // Aliases are expanded first, so that a change affects one model only.
  const plain = parseDocument(catalogueText, { merge: true }).toJS() as Record<string, unknown>;
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('/');
    const last = names.pop()!;
    const parent = names.reduce<Record<string, unknown>>(
      (at, name) => at[name] as Record<string, unknown>,
      plain,
    );
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return JSON.stringify(plain);
}

describe('the catalogue of the local studio', () => {
  const { models, channels, superResolution, currency } = theCatalogue();

  test.each([
    [
      'studio-2.0',
      ['480p', '720p', '1080p'],
      9,
      true,
      true,
      false,
      ['web_search'],
      true,
      4,
      15,
      true,
    ],
    ['studio-2.0-fast', ['480p', '720p'], 9, true, true, false, ['web_search'], true, 4, 15, true],
    [
      'studio-2.0-pro',
      ['480p', '720p', '1080p', '4k'],
      9,
      true,
      true,
      false,
      ['web_search'],
      true,
      4,
      15,
      true,
    ],
    ['studio-1.5-pro', ['480p', '720p', '1080p'], 1, false, true, true, [], true, 4, 12, true],
    ['studio-1.0', ['480p', '720p'], 4, false, false, false, [], false, 4, 10, false],
  ])(
    'has the model %s with its abilities',
    (id, resolutions, references, middle, audio, draft, tools, lastFrame, min, max, auto) => {
      const model = models[id]!;
      expect(model.resolutions).toEqual(resolutions);
      expect(model.inputs.referenceImagesMax).toBe(references);
      expect(model.inputs.middleFrames).toBe(middle);
      expect(model.audio).toBe(audio);
      expect(model.draft !== null).toBe(draft);
      expect(model.tools).toEqual(tools);
      expect(model.lastFrame).toBe(lastFrame);
      expect(model.durations).toEqual({ min, max, auto });
      expect(model.defaults).toEqual({ resolution: '720p', ratio: 'adaptive', durationSeconds: 5 });
      expect(model.channels).toEqual([{ channel: 'studio', upstreamModel: id }]);
      expect(model.promptCharsMax).toBe(10_000);
    },
  );

  test('has five models with every ratio and every input type, except that `studio-1.0` accepts no first or last frame', () => {
    expect(Object.keys(models)).toEqual([
      'studio-2.0',
      'studio-2.0-fast',
      'studio-2.0-pro',
      'studio-1.5-pro',
      'studio-1.0',
    ]);
    for (const { id, ratios, inputs } of Object.values(models)) {
      expect(ratios).toEqual(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']);
      const frames = id === 'studio-1.0' ? [] : ['first_last_frame'];
      expect(inputs.types).toEqual(['text_to_video', ...frames, 'reference']);
    }
    expect(models['studio-2.0']?.modes).toEqual({
      fast: 'studio-2.0-fast',
      pro: 'studio-2.0-pro',
    });
  });

  const ratiosInOrder = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'] as const;
  test.each<[string, '480p' | '720p' | '1080p' | '4k', string]>([
    ['studio-2.0', '480p', '864x496 752x560 640x640 560x752 496x864 992x432'],
    ['studio-2.0', '720p', '1280x720 1112x834 960x960 834x1112 720x1280 1470x630'],
    ['studio-2.0', '1080p', '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946'],
    ['studio-2.0-pro', '4k', '3840x2160 3326x2494 2880x2880 2494x3326 2160x3840 4398x1886'],
    ['studio-2.0-fast', '720p', '1280x720 1112x834 960x960 834x1112 720x1280 1470x630'],
    ['studio-1.5-pro', '480p', '864x496 752x560 640x640 560x752 496x864 992x432'],
    ['studio-1.5-pro', '1080p', '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946'],
    ['studio-1.0', '480p', '864x480 736x544 640x640 544x736 480x864 960x416'],
    ['studio-1.0', '720p', '1248x704 1120x832 960x960 832x1120 704x1248 1504x640'],
  ])('has the model %s, whose videos in %s have the sizes %s', (id, tier, sizes) => {
    const table = models[id]!.pixels[tier]!;
    const texts = ratiosInOrder.map((ratio) => `${table[ratio]!.width}x${table[ratio]!.height}`);
    expect(texts.join(' ')).toBe(sizes);
  });

  test('accepts input videos and input audio only for the 2.0 models, and these accept audio without other media', () => {
    const takers = Object.values(models).filter(
      ({ inputs }) => inputs.videosMax + inputs.audiosMax > 0,
    );
    expect(takers.map(({ id }) => id)).toEqual(['studio-2.0', 'studio-2.0-fast', 'studio-2.0-pro']);
    expect(takers.map(({ inputs }) => inputs.audioAlone)).toEqual([true, true, true]);
  });

  test.each<[string, string, boolean, boolean, number]>([
    ['studio-2.0', '720p', false, true, 46],
    ['studio-2.0', '480p', true, true, 28],
    ['studio-2.0', '1080p', false, false, 51],
    ['studio-2.0', '1080p', true, true, 31],
    ['studio-2.0-pro', '4k', false, true, 26],
    ['studio-2.0-pro', '4k', true, true, 16],
    ['studio-2.0-fast', '720p', false, true, 37],
    ['studio-2.0-fast', '480p', true, true, 22],
    ['studio-1.5-pro', '1080p', false, true, 16],
    ['studio-1.5-pro', '1080p', false, false, 8],
    ['studio-1.0', '720p', false, false, 15],
  ])(
    'prices %s in %s (with input video: %s, with audio: %s) at %s per million tokens',
    (model, resolution, video, audio, price) => {
      const { plan } = planTask(
        aRequest({
          model,
          resolution: resolution as '720p',
          ...(video ? { videos: ['https://example.com/a.mp4'] } : {}),
          metadata: { generate_audio: audio },
        }),
        theCatalogue(),
        { seed: 1 },
      );
      expect(plan?.price.microsPerMillionTokens).toBe(price * 1_000_000);
    },
  );

  test('has the enhancer, its prices and the currency', () => {
    expect(currency).toBe('CNY');
    expect(superResolution).toMatchObject({
      channels: ['studio-enhancer'],
      microsPerMinute: 750_000,
    });
    expect(superResolution?.coefficients['4k']).toEqual([8, 16, 32]);
    expect(superResolution?.factors).toEqual({ standard: 1, professional: 10 });
    expect(channels.studio).toMatchObject({ protocol: 'ark', apiKeyEnv: 'STUDIO_API_KEY' });
  });

  test('replaces the variables in its addresses with values of the environment', () => {
    const catalogue = parseCatalogue(catalogueText, { STUDIO_URL: 'http://10.0.0.7:99' });
    expect(catalogue.channels.studio?.baseUrl).toBe('http://10.0.0.7:99/api/v3');
    expect(catalogue.channels['studio-enhancer']?.baseUrl).toBe('http://10.0.0.7:99');
  });
});

describe('the example catalogue for real providers', () => {
  test('is valid', () => {
    expect(faultsOf(arkCatalogueText)).toEqual([]);
  });

  const ark = parseCatalogue(arkCatalogueText, {});

  test.each<[string, string, string[], number, number]>([
    ['seedance-2.0', 'doubao-seedance-2-0-260128', ['480p', '720p', '1080p', '4k'], 15, 9],
    ['seedance-2.0-fast', 'doubao-seedance-2-0-fast-260128', ['480p', '720p'], 15, 9],
    ['seedance-2.0-mini', 'doubao-seedance-2-0-mini-260615', ['480p', '720p'], 15, 9],
    ['seedance-2.5', 'doubao-seedance-2-5-260628', ['480p', '720p', '1080p'], 30, 9],
    ['seedance-1.5-pro', 'doubao-seedance-1-5-pro-251215', ['480p', '720p', '1080p'], 12, 0],
  ])(
    'has the model %s, which is %s at the provider',
    (id, upstreamModel, resolutions, seconds, references) => {
      const model = ark.models[id]!;
      expect(model.channels).toEqual([{ channel: 'ark-cn', upstreamModel }]);
      expect(model.resolutions).toEqual(resolutions);
      expect(model.durations).toEqual({ min: 4, max: seconds, auto: true });
      expect(model.inputs).toMatchObject({ referenceImagesMax: references, middleFrames: false });
      expect(model.inputs.audioAlone).toBe(id === 'seedance-2.5');
    },
  );

  test('has two providers, and contains the names of their key variables but not the keys', () => {
    expect(
      Object.values(ark.channels).map(({ id, protocol, apiKeyEnv }) => [id, protocol, apiKeyEnv]),
    ).toEqual([
      ['ark-cn', 'ark', 'ARK_API_KEY'],
      ['mediakit-cn', 'mediakit', 'MEDIAKIT_API_KEY'],
    ]);
    // This provider has no idempotency keys. So after a lost answer the job is searched in the
    // list, and the create is not simply repeated.
    expect(ark.channels['ark-cn']).toMatchObject({ honoursIdempotencyKey: false, hasList: true });
  });

  test('has a valid second provider in its comments', () => {
    const commented = /^# {3}ark-intl:\n(?:#.*\n)+/m.exec(arkCatalogueText)?.[0] ?? '';
    const uncommented = commented.replaceAll(/^# /gm, '');
    expect(uncommented).toContain('mediakit-intl:');
    expect(faultsOf(arkCatalogueText.replace(/^channels:$/m, `channels:\n${uncommented}`))).toEqual(
      [],
    );
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a schema is walked by what it is made of
function keysIn(schema: any): string[] {
  const { def } = schema;
  const inner = [def.innerType, def.element, def.valueType, def.in].filter(Boolean);
  const shape = Object.entries(def.shape ?? {});
  return [
    ...shape.map(([key]) => key),
    ...shape.flatMap(([, field]) => keysIn(field)),
    ...inner.flatMap(keysIn),
  ];
}

test('docs/catalogue.md explains every key of the catalogue and no other key', () => {
  const page = readFileSync(join(__dirname, '../../docs/catalogue.md'), 'utf8');
  const keys = new Set(keysIn(schemaWith(['ark'])));
  expect(keys.size).toBeGreaterThan(40);
  expect([...keys].filter((key) => !page.includes(`\`${key}`))).toEqual([]);
  const rows = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, key]) => key!);
  expect(rows.filter((key) => !keys.has(key))).toEqual([]);
});

test('a price for all other videos may be unused', () => {
  const prices = [{ resolutions: ['480p', '720p', '1080p'], perMillionTokens: '1' }];
  const both = { 'models/studio-1.0/prices': [...prices, { perMillionTokens: '2' }] };
  expect(faultsOf(withChanges(both))).toEqual([]);
});

describe('an invalid catalogue', () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      'a price without an amount',
      { 'models/studio-1.0/prices': [{ perMillionTokens: 'x' }] },
      'models."studio-1.0".prices[0].perMillionTokens: six decimals',
    ],
    [
      'no price at all',
      { 'models/studio-1.0/prices': [] },
      'models."studio-1.0".prices: at least one',
    ],
    [
      'a tier that no price covers',
      { 'models/studio-1.0/prices': [{ resolutions: ['480p'], perMillionTokens: '1' }] },
      'models."studio-1.0".prices: 720p without input video, without audio',
    ],
    [
      'a price behind one that covers the same videos',
      {
        'models/studio-1.0/prices': [
          { perMillionTokens: '1' },
          { resolutions: ['480p'], perMillionTokens: '100' },
        ],
      },
      'models."studio-1.0".prices[1]: never used',
    ],
    [
      'two prices for every video',
      { 'models/studio-1.0/prices': [{ perMillionTokens: '1' }, { perMillionTokens: '2' }] },
      'models."studio-1.0".prices[1]: never used',
    ],
    [
      'a price that overflows',
      {
        'models/studio-1.0/channels': [
          {
            channel: 'studio',
            upstreamModel: 'x',
            meter: { perSecond: { '480p': 1, '720p': 100_000_000, '1080p': 1 } },
          },
        ],
        'models/studio-1.0/prices': [{ perMillionTokens: '999999' }],
      },
      'models."studio-1.0".channels[0].meter: 1000000',
    ],
    [
      'a channel with one upstream model twice',
      {
        'models/studio-1.0/channels': [
          { channel: 'studio', upstreamModel: 'x' },
          { channel: 'studio', upstreamModel: 'x', cost: { perMillionTokens: '1' } },
        ],
      },
      'models."studio-1.0".channels[1].upstreamModel: twice',
    ],
    [
      'an address with a query',
      { 'channels/studio/baseUrl': 'https://example.com/v1?a=b' },
      'channels.studio.baseUrl: http(s) address without a query',
    ],
    [
      'an address with a blank at its end',
      { 'channels/studio/baseUrl': 'https://example.com/v1 ' },
      'channels.studio.baseUrl: http(s) address',
    ],
    [
      'an address with a placeholder that is not known here',
      { 'channels/studio/baseUrl': `https://$${'{HOST-example.com}'}/v1` },
      'channels.studio.baseUrl: http(s) address',
    ],
    [
      'an unknown channel',
      { 'models/studio-1.0/channels': [{ channel: 'gone', upstreamModel: 'x' }] },
      'models."studio-1.0".channels[0].channel: there is no channel "gone"; channels: studio, studio-enhancer',
    ],
    [
      'a channel of the other protocol',
      { 'models/studio-1.0/channels': [{ channel: 'studio-enhancer', upstreamModel: 'x' }] },
      'models."studio-1.0".channels[0].channel: mediakit, but a generator',
    ],
    [
      'a mode for an unknown model',
      { 'models/studio-2.0/modes': { fast: 'gone' } },
      'models."studio-2.0".modes.fast: "gone"',
    ],
    [
      'an unknown pixel table',
      { 'models/studio-1.0/pixels': 'gone' },
      'models."studio-1.0".pixels: "gone"',
    ],
    [
      'a tier without pixels',
      { 'pixelTables/family-1/720p': undefined },
      'models."studio-1.0".resolutions[1]: 720p',
    ],
    [
      'a ratio without pixels',
      { 'pixelTables/family-1/720p/21:9': undefined },
      'models."studio-1.0".ratios: 720p 21:9',
    ],
    [
      'an unknown tier',
      { 'models/studio-1.0/resolutions': ['8k'] },
      'models."studio-1.0".resolutions[0]: "768p"; got "8k"',
    ],
    [
      'a default that is not offered',
      { 'models/studio-1.0/defaults/resolution': '4k' },
      'models."studio-1.0".defaults.resolution: 4k',
    ],
    [
      'a misspelt ability',
      { 'models/studio-1.0/lastframe': true },
      'models."studio-1.0".lastframe',
    ],
    ['a misspelt name at the top', { chanels: {} }, 'chanels'],
    [
      'references for which every count is 0',
      { 'models/studio-1.0/inputs': { types: ['reference'] } },
      'models."studio-1.0".inputs.types: "reference"',
    ],
    [
      'videos without references',
      { 'models/studio-1.0/inputs': { types: ['text_to_video'], videosMax: 1 } },
      'models."studio-1.0".inputs.videosMax: "reference"',
    ],
    [
      'an enhancement price that is too high',
      { 'superResolution/perMinute': '999999' },
      'superResolution.perMinute',
    ],
    [
      'an enhancement cost that is too high',
      { 'superResolution/costs': { studio_sr: { perMinute: '999999' } } },
      'superResolution.costs.studio_sr.perMinute',
    ],
    [
      'an amount that makes the price of a long video no safe integer',
      { 'models/studio-1.0/prices': [{ perMillionTokens: '1000000' }] },
      'models."studio-1.0".prices[0].perMillionTokens: 1000000',
    ],
    [
      'rounds of a watcher that are too rare for the alerts',
      { 'channels/studio/pollIntervalMs': 30_001 },
      'channels.studio.pollIntervalMs: 30000',
    ],
    [
      'a factor of the largest charge below 1',
      { chargeMaxFactor: 0.5 },
      'chargeMaxFactor: must be at least 1',
    ],
    [
      'two coefficients instead of three',
      { 'superResolution/coefficients/2k': [1, 2] },
      'superResolution.coefficients.2k: three',
    ],
    [
      'no enhancement price for a tier',
      { 'superResolution/coefficients/4k': undefined },
      'superResolution.coefficients.4k: three',
    ],
    [
      'a missing ability',
      { 'models/studio-1.0/audio': undefined },
      'models."studio-1.0".audio: undefined',
    ],
    [
      'a channel without an upstream model',
      { 'models/studio-1.0/channels': [{ channel: 'studio' }] },
      'models."studio-1.0".channels[0].upstreamModel: missing',
    ],
    ['a model name with a space', { 'models/studio one': {} }, 'models."studio one": letters'],
    [
      'a draft without 480p',
      { 'models/studio-1.5-pro/resolutions': ['720p'] },
      'models."studio-1.5-pro".draft: 480p',
    ],
    [
      'a default length that is not offered',
      { 'models/studio-1.0/defaults/durationSeconds': -1 },
      'models."studio-1.0".defaults.durationSeconds: -1',
    ],
    [
      'a default ratio that is not offered',
      { 'models/studio-1.0/ratios': ['16:9'] },
      'models."studio-1.0".defaults.ratio: adaptive',
    ],
    [
      'a duration that the API does not know',
      { 'models/studio-1.0/durations/max': 601 },
      'models."studio-1.0".durations.max: 600',
    ],
    [
      'a range and a list of durations',
      { 'models/studio-1.0/durations': { min: 4, max: 8, values: [5] } },
      'models."studio-1.0".durations: values',
    ],
    [
      'half a range of durations',
      { 'models/studio-1.0/durations': { min: 4 } },
      'models."studio-1.0".durations: values',
    ],
    [
      'a default length that is not in the list',
      { 'models/studio-1.0/durations': { values: [4, 8] } },
      'models."studio-1.0".defaults.durationSeconds: 5',
    ],
    [
      'a tier without any size',
      { 'models/studio-1.0/ratios': ['adaptive'], 'pixelTables/family-1/720p': {} },
      'models."studio-1.0".ratios: 720p adaptive',
    ],
    [
      'a retirement that is not a date',
      { 'models/studio-1.0/retires': 'soon' },
      'models."studio-1.0".retires: 2027-01-31',
    ],
    [
      'a replacement without a retirement',
      { 'models/studio-1.0/replacedBy': 'studio-2.0' },
      'models."studio-1.0".replacedBy: retires',
    ],
    [
      'a replacement that does not exist',
      { 'models/studio-1.0/retires': '2027-01-31', 'models/studio-1.0/replacedBy': 'studio-9' },
      'models."studio-1.0".replacedBy: "studio-9"',
    ],
    [
      'replacements in a circle',
      { 'models/studio-1.0/retires': '2027-01-31', 'models/studio-1.0/replacedBy': 'studio-1.0' },
      'models."studio-1.0".replacedBy: circle',
    ],
    [
      'a move without a replacement',
      { 'models/studio-1.0/retires': '2027-01-31', 'models/studio-1.0/afterRetirement': 'move' },
      'models."studio-1.0".afterRetirement: replacedBy',
    ],
    [
      'a meter that does not exist',
      {
        'models/studio-1.0/channels': [
          { channel: 'studio', upstreamModel: 'studio-1.0', meter: { perFrame: 1 } },
        ],
      },
      'models."studio-1.0".channels[0].meter: reported',
    ],
    [
      'a meter without a figure for a tier',
      {
        'models/studio-1.0/channels': [
          { channel: 'studio', upstreamModel: 'studio-1.0', meter: { perJob: { '480p': 1000 } } },
        ],
      },
      'models."studio-1.0".channels[0].meter: 720p',
    ],
    [
      'a price for input video alone',
      { 'models/studio-2.0-fast/prices': [{ inputVideo: true, perMillionTokens: '22' }] },
      'models."studio-2.0-fast".prices: 480p without input video, with audio',
    ],
    [
      'a shortest duration above the longest',
      { 'models/studio-1.0/durations': { min: 9, max: 4 } },
      'models."studio-1.0".durations: above',
    ],
    [
      'a word instead of true or false',
      { 'models/studio-1.0/audio': 'yes' },
      'models."studio-1.0".audio: "yes"',
    ],
    [
      'an address without a scheme',
      { 'channels/studio/baseUrl': 'studio:80' },
      'channels.studio.baseUrl: "studio:80"',
    ],
    [
      'an API key instead of the name of its variable',
      { 'channels/studio/apiKeyEnv': 'sk-123' },
      'channels.studio.apiKeyEnv: environment variable',
    ],
    [
      'an enhancer of the wrong protocol',
      { 'superResolution/channels': ['studio'] },
      'superResolution.channels[0]: ark, but an enhancer',
    ],
    ['an invalid currency code', { currency: 'yuan' }, 'currency: CNY'],
  ])('is refused with %s', (_, changes, expected) => {
    const [path = '', told = ''] = expected.split(/: (.*)/);
    const faults = faultsOf(withChanges(changes)).filter((fault) => fault.startsWith(`${path}: `));
    expect(faults.map((fault) => fault.slice(path.length))).toContainEqual(
      expect.stringContaining(told),
    );
  });

  test('is refused with all its faults at once', () => {
    const changes = {
      currency: 'yuan',
      'models/studio-1.0/audio': 'yes',
      'channels/studio/protocol': 'soap',
    };
    expect(faultsOf(withChanges(changes))).toHaveLength(3);
  });

  test('is refused if an address names a variable that is not set', () => {
    const text = withChanges({ 'channels/studio/baseUrl': ['$', '{NOWHERE}/x'].join('') });
    expect(faultsOf(text)[0]).toMatch(/^channels\.studio\.baseUrl: .*NOWHERE/);
  });

  test('never tells a value of the environment, and without one keeps its placeholders', () => {
    const text = withChanges({ 'channels/studio/baseUrl': ['$', '{SECRET}'].join('') });
    const faults = faultsOf(text, { SECRET: 'postgres://me:hidden@db/books' });
    expect(faults).toEqual([expect.stringContaining('SECRET}"')]);
    const { channels } = parseWith(text, { environment: null, protocols });
    expect(channels.studio?.baseUrl).toBe(['$', '{SECRET}'].join(''));
    const wrong = withChanges({ 'channels/studio/baseUrl': 'postgres://db' });
    expect(() => parseWith(wrong, { environment: null, protocols })).toThrow('"postgres://db"');
  });

  test('is refused as a whole if it is empty, not YAML or not an object', () => {
    expect(faultsOf('a: [1')[0]).toMatch(/line 1/);
    expect(faultsOf('a: *nowhere')[0]).toMatch(/^\(the whole file\): .*nowhere/);
    expect(faultsOf('a: { <<: 3 }')[0]).toMatch(/^\(the whole file\): Merge sources/);
    expect(faultsOf('a: 1\na: 2')[0]).toMatch(/unique at line 2/);
    expect(faultsOf('42')[0]).toMatch(/^\(the whole file\)/);
    expect(faultsOf('')[0]).toMatch(/^\(the whole file\)/);
  });
});
