// A channel with several keys, and models whose channels have weights.

import { parse } from 'yaml';
import { mayUseChannel } from '../../src/catalogue/catalogue.rules';
import { CatalogueError } from '../../src/catalogue/file';
import { warningsOf } from '../../src/planning/catalogue-warnings';
import { catalogueText, parseCatalogue } from '../support/catalogue';

type Plain = Record<string, Record<string, Record<string, unknown>>>;

function changed(change: (file: Plain) => void) {
  const file = parse(catalogueText, { merge: true }) as Plain;
  change(file);
  return JSON.stringify(file);
}

const withKeys = (moreKeys: object[], over: object = {}) =>
  changed(({ channels }) => Object.assign(channels!.studio!, { moreKeys, ...over }));

function faultsOf(text: string): readonly string[] {
  try {
    parseCatalogue(text, {});
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

test('each further key is a channel of its own, with the limit of the channel or its own limit', () => {
  const keys = [{ apiKeyEnv: 'KEY_B' }, { apiKeyEnv: 'KEY_C', jobsInFlightMax: 7 }];
  const { channels } = parseCatalogue(withKeys(keys, { jobsInFlightMax: 20 }), {});
  const shown = Object.values(channels).map(({ id, apiKeyEnv, jobsInFlightMax: max }) => [
    id,
    apiKeyEnv,
    max,
  ]);
  expect(shown.slice(0, 3)).toEqual([
    ['studio', 'STUDIO_API_KEY', 20],
    ['studio:KEY_B', 'KEY_B', 20],
    ['studio:KEY_C', 'KEY_C', 7],
  ]);
  expect(channels['studio:KEY_B']).toMatchObject({ protocol: 'ark', honoursIdempotencyKey: true });
});

test('a model gets all keys of its channels, except keys that get no new jobs', () => {
  const keys = [{ apiKeyEnv: 'KEY_B', jobsInFlightMax: 0 }, { apiKeyEnv: 'KEY_C' }];
  const { channels, models } = parseCatalogue(withKeys(keys), {});
  expect(models['studio-2.0']?.channels).toEqual([
    { channel: 'studio', upstreamModel: 'studio-2.0' },
    { channel: 'studio:KEY_C', upstreamModel: 'studio-2.0' },
  ]);
  // Its open jobs are still read.
  expect(channels['studio:KEY_B']).toBeDefined();
});

test('a caller who may use a channel may use all of its keys', () => {
  expect(mayUseChannel(['studio'], 'studio:KEY_B')).toBe(true);
  expect(mayUseChannel(['studio:KEY_B'], 'studio')).toBe(false);
  expect(mayUseChannel(['studi'], 'studio')).toBe(false);
  expect(mayUseChannel(null, 'studio:KEY_B')).toBe(true);
});

test.each([
  [
    'a key that is named twice',
    withKeys([{ apiKeyEnv: 'KEY_B' }, { apiKeyEnv: 'KEY_B' }]),
    'channels.studio.moreKeys[1].apiKeyEnv',
  ],
  [
    'the first key again',
    withKeys([{ apiKeyEnv: 'STUDIO_API_KEY' }]),
    'channels.studio.moreKeys[0].apiKeyEnv',
  ],
  [
    'something that is no name of a variable',
    withKeys([{ apiKeyEnv: 'sk-123' }]),
    'channels.studio.moreKeys[0].apiKeyEnv',
  ],
  [
    'a colon in the name of a channel',
    changed(({ channels }) => Object.assign(channels!, { 'a:b': channels!.studio })),
    'channels."a:b"',
  ],
  [
    'weights for some of the channels of a model',
    changed(({ models }) => {
      const channel = { channel: 'studio', upstreamModel: 'studio-1.0' };
      models!['studio-1.0']!.channels = [
        { ...channel, weight: 2 },
        { ...channel, upstreamModel: 'other' },
      ];
    }),
    'models."studio-1.0".channels',
  ],
])('a catalogue with %s is refused at its path', (_, text, path) => {
  const faults = faultsOf(text);
  expect(faults).toHaveLength(1);
  expect(faults[0]?.startsWith(`${path}: `)).toBe(true);
});

test('the jobs of a model wait for its closed channels if all of them are closed, with a warning', () => {
  const keys = [{ apiKeyEnv: 'KEY_B' }, { apiKeyEnv: 'KEY_C' }];
  const catalogue = parseCatalogue(withKeys(keys, { jobsInFlightMax: 0 }), {});
  expect(catalogue.models['studio-2.0']?.channels.map(({ channel }) => channel)).toEqual([
    'studio',
    'studio:KEY_B',
    'studio:KEY_C',
  ]);
  expect(warningsOf(catalogue, Date.now())).toContain(
    'models."studio-2.0".channels: all have jobsInFlightMax 0, so its tasks are accepted and wait',
  );
});

test('super-resolution waits for its closed channels if all of them are closed, with a warning', () => {
  const closed = changed(({ channels }) =>
    Object.assign(channels!['studio-enhancer']!, { jobsInFlightMax: 0 }),
  );
  const catalogue = parseCatalogue(closed, {});
  expect(catalogue.superResolution?.channels).toEqual(['studio-enhancer']);
  expect(Object.keys(catalogue.superResolution?.limits ?? {})).toEqual(
    Object.keys(parseCatalogue(catalogueText, {}).superResolution?.limits ?? {}),
  );
  expect(warningsOf(catalogue, Date.now())).toEqual([
    'superResolution.channels: all have jobsInFlightMax 0, so its tasks are accepted and wait',
  ]);
  expect(warningsOf(parseCatalogue(catalogueText, {}), Date.now())).toEqual([]);
});
