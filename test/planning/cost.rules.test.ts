// What a job costs upstream, and the margins that a catalogue promises.

import type {
  ByTier,
  Cost,
  EnhancementCost,
  Meter,
  Model,
} from '../../src/catalogue/catalogue.rules';
import { jobCostMicros, plannedCost } from '../../src/planning/cost.rules';
import { lossesOf, plainMargins } from '../../src/planning/margins.rules';
import { planTask } from '../../src/planning/plan.rules';
import type { PlannedCost } from '../../src/planning/plan-types.rules';
import { aRequest } from '../support/builders';
import { theCatalogue } from '../support/catalogue';

const facts = { completionTokens: 100_001, durationSeconds: 4.5, inputSeconds: 3 };
const tiers = (micros: number): ByTier => ({ '480p': micros, '720p': micros, '1080p': micros });

test.each<[string, Cost, number]>([
  ['tokens', { microsPerMillionTokens: 28_500_000 }, 2_850_029],
  ['seconds', { microsPerSecond: tiers(600_001) }, 2_700_005],
  ['seconds of input too', { microsPerSecond: tiers(600_000), inputSeconds: true }, 4_500_000],
  ['a job', { microsPerJob: tiers(2_500_000) }, 2_500_000],
])('a provider that bills %s', (_, cost, micros) => {
  expect(jobCostMicros(plannedCost(cost, '720p'), facts)).toBe(micros);
});

test.each<[string, Cost, object]>([
  ['reports no tokens', { microsPerMillionTokens: 1 }, { completionTokens: null }],
  ['reports no length', { microsPerSecond: tiers(1) }, { durationSeconds: null }],
  ['reports an absurd length', { microsPerSecond: tiers(1_000_000) }, { durationSeconds: 1e300 }],
  ['reports a negative length', { microsPerSecond: tiers(1_000_000) }, { durationSeconds: -3 }],
])('the cost is not known if the provider %s', (_, cost, over) => {
  expect(jobCostMicros(plannedCost(cost, '720p'), { ...facts, ...over })).toBeNull();
});

const catalogue = theCatalogue();
const studio = catalogue.models['studio-2.0'] as Model;
const soldAt = (...channels: { channel: string; cost?: Cost; meter?: Meter }[]): Model => ({
  ...studio,
  channels: channels.map((one) => ({ upstreamModel: 'm', ...one })),
});

test('a plan keeps the figures of its tier', () => {
  const model = soldAt({
    channel: 'studio',
    cost: { microsPerSecond: { ...tiers(5), '720p': 7 } },
  });
  const request = aRequest({ resolution: '720p' });
  const { plan } = planTask(
    request,
    { ...catalogue, models: { 'studio-2.0': model } },
    { seed: 1 },
  );
  expect(plan?.channels).toEqual([
    { channel: 'studio', upstreamModel: 'm', cost: { microsPerSecond: 7, inputSeconds: false } },
  ]);
});

test.each<[string, EnhancementCost, object, PlannedCost]>([
  ['a minute', { microsPerMinute: 300_001 }, {}, { microsPerMinute: 600_002 }],
  [
    'a minute, by the better tool and at 60 frames',
    { microsPerMinute: 300_001 },
    { tool_version: 'professional', fps: 60 },
    { microsPerMinute: 12_000_040 },
  ],
  [
    'a second',
    { microsPerSecond: { '1080p': 7, '2k': 9 } },
    {},
    { microsPerSecond: 7, inputSeconds: false },
  ],
  ['a job', { microsPerJob: { '1080p': 7, '2k': 9 } }, { resolution: '2k' }, { microsPerJob: 9 }],
])('a plan keeps what an enhancer bills for %s', (_, cost, config, planned) => {
  const offer = { ...catalogue.superResolution!, costs: { 'studio-enhancer': cost } };
  const asked = { resolution: '1080p', tool_version: 'standard', ...config } as const;
  const request = aRequest({ resolution: '720p', metadata: { super_resolution_config: asked } });
  const { plan } = planTask(request, { ...catalogue, superResolution: offer }, { seed: 1 });
  expect(plan?.enhancement?.costs).toEqual({ 'studio-enhancer': planned });
});

test('a plain video has one margin for each channel, and none where the cost is not known', () => {
  const model = soldAt(
    { channel: 'a', cost: { microsPerMillionTokens: 30_000_000 } },
    { channel: 'a:KEY_2', cost: { microsPerMillionTokens: 30_000_000 } },
    { channel: 'b', meter: { perJob: tiers(100_000) }, cost: { microsPerJob: tiers(4_000_000) } },
    { channel: 'c' },
  );
  const shown = plainMargins(catalogue, model).map((one) => [
    one.channel,
    one.chargedMicros,
    one.costMicros,
  ]);
  expect(shown).toEqual([
    ['a', 5_009_400, 3_267_000],
    ['b', 4_600_000, 4_000_000],
    ['c', 5_009_400, null],
  ]);
});

test('a price below the cost is found in any tier, length, with any sound and reference', () => {
  expect(
    lossesOf(catalogue, soldAt({ channel: 'a', cost: { microsPerMillionTokens: 25_000_000 } })),
  ).toEqual([]);
  const tokens = soldAt(
    { channel: 'a' },
    { channel: 'b', cost: { microsPerMillionTokens: 28_000_001 } },
  );
  // Tokens are sold for less with reference video.
  expect(lossesOf(catalogue, tokens)).toEqual([
    expect.objectContaining({ index: 1, channel: 'b', hasVideo: true }),
  ]);
  const dearTier = { microsPerSecond: { ...tiers(1), '1080p': 9_000_000 } };
  expect(lossesOf(catalogue, soldAt({ channel: 'a', cost: dearTier }))[0]?.resolution).toBe(
    '1080p',
  );
  // A price per job is too low for the longest video only.
  const flat = soldAt({
    ...{ channel: 'a', meter: { perJob: tiers(200_000) } },
    cost: { microsPerSecond: tiers(1_000_000) },
  });
  expect(lossesOf(catalogue, flat)[0]?.seconds).toBe(15);
});
