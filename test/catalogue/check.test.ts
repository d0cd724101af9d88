// `admin catalogue check`: what an operator reads before a catalogue is used. It needs no server.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { adminWith } from '../support/admin';
import { catalogueText } from '../support/catalogue';

type Plain = Record<string, Record<string, Record<string, unknown>>>;

const folder = mkdtempSync(join(tmpdir(), 'video-catalogue-'));
afterAll(() => rmSync(folder, { recursive: true }));

const admin = adminWith(() => ({ DATA_DIR: folder }));

function catalogueWith(change: (file: Plain) => void): string {
  const file = parse(catalogueText, { merge: true }) as Plain;
  change(file);
  const path = join(folder, 'catalogue.yaml');
  writeFileSync(path, JSON.stringify(file));
  return path;
}

const checked = async (change: (file: Plain) => void, over: object = {}) => {
  const file = catalogueWith(change);
  return admin(['catalogue', 'check', file, '--json'], over);
};
const choice = { channel: 'studio', upstreamModel: 'studio-2.0' };
const inDays = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test('without a file the configured catalogue is checked', async () => {
  const { exitCode, out } = await admin('catalogue check', {
    CATALOGUE_FILE: catalogueWith(() => undefined),
  });
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^MODEL +PLAIN VIDEO +PRICE +A SECOND +CHANNEL +PROTOCOL/m);
  expect(out).toMatch(/^studio-2\.0 +5 s 720p 16:9 +5\.009400 +1\.001880 +studio +ark/m);
});

test('each model is shown with the price of a plain video and the margin at each channel', async () => {
  const { json, exitCode } = await checked(({ models }) => {
    models!['studio-2.0']!.channels = [
      { ...choice, cost: { perMillionTokens: '25' } },
      {
        ...choice,
        upstreamModel: 'other',
        meter: { perJob: { '480p': 90000, '720p': 90000, '1080p': 300000 } },
      },
    ];
  });
  expect(exitCode).toBe(0);
  expect(json.warnings).toEqual([]);
  expect(json.models[0]).toEqual({
    ...{ model: 'studio-2.0', resolution: '720p', ratio: '16:9', duration: 5 },
    ...{ price: '5.009400', pricePerSecond: '1.001880' },
    channels: [
      {
        ...{ channel: 'studio', upstreamModel: 'studio-2.0', protocol: 'ark' },
        ...{ charged: '5.009400', cost: '2.722500', margin: '2.286900', percent: 46 },
      },
      {
        ...{ channel: 'studio', upstreamModel: 'other', protocol: 'ark' },
        ...{ charged: '4.140000', cost: null, margin: null, percent: null },
      },
    ],
  });
});

test.each<[string, string, (file: Plain) => void]>([
  [
    'a price below the cost',
    'models."studio-2.0".channels[0].cost',
    ({ models }) => {
      models!['studio-2.0']!.channels = [{ ...choice, cost: { perMillionTokens: '47' } }];
    },
  ],
  ...[
    { perMinute: '0.76' },
    { perSecond: { '720p': '0.0126', '1080p': '0.02', '2k': '0.04', '4k': '0.09' } },
    { perJob: { '720p': '0.01', '1080p': '0.01', '2k': '0.01', '4k': '1' } },
  ].map(
    (cost) =>
      [
        `super-resolution below the cost ${Object.keys(cost)[0]}`,
        'superResolution.costs.studio-enhancer',
        ({ superResolution }: Plain) =>
          Object.assign(superResolution!, { costs: { 'studio-enhancer': cost } }),
      ] as [string, string, (file: Plain) => void],
  ),
  [
    'a model that ends soon',
    'models."studio-1.0".retires',
    ({ models }) => Object.assign(models!['studio-1.0']!, { retires: inDays(20) }),
  ],
  [
    'a model that has ended',
    'models."studio-1.0".retires',
    ({ models }) => Object.assign(models!['studio-1.0']!, { retires: inDays(-1) }),
  ],
])('%s is a warning', async (_, path, change) => {
  const { json, exitCode } = await checked(change);
  expect(exitCode).toBe(0);
  expect(json.warnings.map((one: { path: string }) => one.path)).toEqual([path]);
});

test('a model that ends later is no warning, and one that has ended is not sold', async () => {
  const later = await checked(({ models }) =>
    Object.assign(models!['studio-1.0']!, { retires: inDays(60) }),
  );
  expect(later.json.warnings).toEqual([]);
  const ended = await checked(({ models }) =>
    Object.assign(models!['studio-1.0']!, { retires: inDays(-1) }),
  );
  expect(ended.json.models).toHaveLength(later.json.models.length - 1);
});

test('faults are told with path and reason, and the exit code is 1', async () => {
  const { json, exitCode } = await checked(({ models }) => {
    models!['studio-2.0']!.channels = [
      { ...choice, channel: 'gone' },
      { ...choice, cost: { perJob: { '480p': '1' } } },
    ];
  });
  expect(exitCode).toBe(1);
  const paths = json.faults.map((one: { path: string }) => one.path);
  expect(paths).toEqual([
    'models."studio-2.0".channels[0].channel',
    'models."studio-2.0".channels[1].cost',
    'models."studio-2.0".channels[1].cost',
  ]);
  expect(json.faults[0].reason).toMatch(/^there is no channel "gone"/);
});

test.each([
  ['a channel that does no super-resolution', 'studio', { perMinute: '0.1' }],
  [
    'a tier without a figure',
    'studio-enhancer',
    { perJob: { '720p': '1', '1080p': '1', '2k': '1' } },
  ],
])('a cost of super-resolution for %s is a fault', async (_, channel, cost) => {
  const { json } = await checked(({ superResolution }) =>
    Object.assign(superResolution!, { costs: { [channel]: cost } }),
  );
  expect(json.faults.map((one: { path: string }) => one.path)).toEqual([
    `superResolution.costs.${channel}`,
  ]);
});

test('prices in another currency than the books are a fault', async () => {
  const { json, exitCode } = await checked(() => undefined, { CURRENCY: 'USD' });
  expect([exitCode, json.faults[0].path]).toEqual([1, 'currency']);
});

test('a file that cannot be read is a fault', async () => {
  const { json, exitCode } = await admin([
    'catalogue',
    'check',
    join(folder, 'none.yaml'),
    '--json',
  ]);
  expect(exitCode).toBe(1);
  expect(json.faults[0].reason).toContain('cannot be read');
});

test('more than one file is wrong use', async () => {
  expect((await admin('catalogue check a.yaml b.yaml')).exitCode).toBe(2);
});

describe('price lists', () => {
  const listed = (lists: object, change: (file: Plain) => void = () => undefined) =>
    checked((file) => {
      change(file);
      Object.assign(file, { priceLists: lists });
    });

  test('each list is shown with the price of a plain video of each model', async () => {
    const lists = { partner: { factor: 0.8 }, fair: {} };
    const { json } = await listed(lists);
    const [partner, fair] = json.priceLists;
    const video = { model: 'studio-2.0', resolution: '720p', ratio: '16:9', duration: 5 };
    expect([partner.name, fair.name]).toEqual(['partner', 'fair']);
    expect(partner.models).toHaveLength(json.models.length);
    expect(partner.models[0]).toEqual({ ...video, price: '4.007520', pricePerSecond: '0.801504' });
    expect(fair.models[0]).toEqual({ ...video, price: '5.009400', pricePerSecond: '1.001880' });
    const file = catalogueWith((plain) => Object.assign(plain, { priceLists: lists }));
    const { out } = await admin(['catalogue', 'check', file]);
    expect(out).toMatch(/^partner +studio-2\.0 +4\.007520 +0\.801504$/m);
  });

  test('a list that sells below the cost is a warning with its margin', async () => {
    const { json, exitCode } = await listed(
      { partner: { factor: 0.5 }, fair: {} },
      ({ models }) => {
        models!['studio-2.0']!.channels = [{ ...choice, cost: { perMillionTokens: '25' } }];
      },
    );
    expect(exitCode).toBe(0);
    const found = json.warnings as { path: string; reason: string }[];
    expect(found[0]).toEqual({
      path: 'priceLists.partner',
      reason: expect.stringMatching(
        /4 s of 480p .*cost .* and are charged .*, a margin of -0\.\d+ \(models\."studio-2\.0"\.channels\[0\]\.cost\)/,
      ),
    });
    expect(found.filter(({ path }) => path === 'priceLists.fair')).toEqual([]);
  });

  test.each([
    [
      'an unknown model',
      { a: { models: { nothing: [{ perMillionTokens: '1' }] } } },
      'priceLists.a.models.nothing',
      /no such model/,
    ],
    [
      'rows that leave videos without a price',
      { a: { models: { 'studio-2.0': [{ resolutions: ['480p'], perMillionTokens: '1' }] } } },
      'priceLists.a.models."studio-2.0"',
      /no row covers 720p/,
    ],
    ['a factor of zero', { a: { factor: 0 } }, 'priceLists.a.factor', /more than 0/],
    ['a misspelt key', { a: { factors: 1 } }, 'priceLists.a.factors', /misspelt/],
  ])('%s is a fault', async (_, lists, path, reason) => {
    const { json, exitCode } = await listed(lists);
    expect(exitCode).toBe(1);
    expect(json.faults).toContainEqual({ path, reason: expect.stringMatching(reason) });
  });
});
