// Draws random requests for models with each meter, and random facts of providers that lie about
// lengths. No charge may be above its hold.

import type { Catalogue, ChannelChoice, Meter } from '../../src/catalogue/catalogue.rules';
import { parseRequest } from '../../src/contract/parse-request';
import { contractResolutions } from '../../src/contract/vocabulary';
import type { JobReport } from '../../src/jobs/job.rules';
import { planTask } from '../../src/planning/plan.rules';
import type { Plan } from '../../src/planning/plan-types.rules';
import { settlementFor, total } from '../../src/planning/pricing.rules';
import { finishedVideo } from '../../src/tasks/ending.rules';

import { randomFrom } from '../support/books';
import { aSuccess } from '../support/builders';
import { theCatalogue } from '../support/catalogue';
import { between, pick } from '../support/drawn-plans';

const tiers = { '480p': 9_407, '720p': 21_601, '1080p': 48_603, '4k': 194_401 };

function withMeters(meters: readonly (Meter | undefined)[]): Catalogue {
  const channels = meters.map((meter, at) => ({
    channel: `vendor-${at}`,
    upstreamModel: 'm',
    ...(meter ? { meter } : {}),
  }));
  return withChannels(channels);
}

function withChannels(channels: readonly ChannelChoice[]): Catalogue {
  const catalogue = theCatalogue();
  const models = Object.entries(catalogue.models).map(([id, model]) => [
    id,
    { ...model, channels },
  ]);
  return { ...catalogue, models: Object.fromEntries(models) };
}

interface Facts {
  readonly seconds: number | null;
  readonly inputSeconds?: number | null;
  readonly tokens?: number | null;
  readonly channel?: string;
  readonly upstreamModel?: string;
}

function tokensOf(plan: Plan, facts: Facts): number | null {
  const report: JobReport = {
    kind: 'generation',
    channel: facts.channel ?? 'vendor-0',
    upstreamModel: facts.upstreamModel ?? 'm',
    upstreamId: 'job',
    status: 'succeeded',
    result: {
      videoUrl: 'https://vendor.example/v.mp4',
      lastFrameUrl: null,
      expiresAt: null,
      durationSeconds: facts.seconds,
      inputSeconds: facts.inputSeconds ?? null,
      resolution: null,
      ratio: null,
      seed: null,
      completionTokens: facts.tokens ?? null,
    },
  };
  return finishedVideo({ plan, generation: report, enhanced: undefined, stored: undefined })
    .completionTokens;
}

function planOf(meters: readonly (Meter | undefined)[], body: Record<string, unknown> = {}): Plan {
  return planIn(withMeters(meters), body);
}

function planIn(
  catalogue: Catalogue,
  body: Record<string, unknown> = {},
  trustsLengths = false,
): Plan {
  const { request } = parseRequest({
    model: 'studio-2.0',
    prompt: 'a lighthouse',
    resolution: '720p',
    duration: 5,
    ...body,
  });
  return planTask(request, catalogue, { seed: 1, trustsLengths }).plan!;
}

const lies = [null, 0, -3, 0.04, 4.999, 5, 5.042, 7, 15, 15.2, 600, 1e9, Number.NaN];

test.each<[string, Meter]>([
  ['perSecond', { perSecond: tiers }],
  ['perSecond with input seconds', { perSecond: tiers, inputSeconds: true }],
  ['perJob', { perJob: tiers }],
])('by the meter %s the hold of 1,000 random requests covers the charge', (_, meter) => {
  const random = randomFrom(20_261_125);
  const catalogue = withMeters([meter]);
  const short: string[] = [];
  for (let done = 0; done < 1_000; ) {
    const { request } = parseRequest({
      model: pick(random, Object.keys(catalogue.models)),
      prompt: 'a lighthouse',
      resolution: pick(random, contractResolutions),
      ratio: pick(random, ['16:9', '1:1', 'adaptive']),
      duration: random() < 0.2 ? -1 : between(random, 4, 15),
      ...(random() < 0.5 ? { videos: ['https://media.example.com/a.mp4'] } : {}),
      metadata: { generate_audio: random() < 0.5, draft: random() < 0.1 },
    });
    const { plan } = planTask(request, catalogue, { seed: 1 });
    if (!plan) continue;
    done += 1;
    const facts = { seconds: pick(random, lies), inputSeconds: pick(random, lies) };
    const completionTokens = tokensOf(plan, facts);
    const charge = total(settlementFor(plan, { completionTokens, outputMilliseconds: null }));
    if (!(charge > 0 && charge <= plan.hold.amountMicros)) short.push(JSON.stringify(facts));
  }
  expect(short).toEqual([]);
});

test('seconds are charged as they are, but never more than was asked for', () => {
  const plan = planOf([{ perSecond: { '720p': 20_000 } }]);
  expect(plan.hold.tokens).toBe(100_000);
  expect(tokensOf(plan, { seconds: 4.5 })).toBe(90_000);
  expect(tokensOf(plan, { seconds: 2.007 })).toBe(40_140);
  expect(tokensOf(plan, { seconds: 10 })).toBe(100_000);
  expect(tokensOf(plan, { seconds: null })).toBe(100_000);
});

test('input seconds are charged only if the meter says so', () => {
  const body = { videos: ['https://media.example.com/a.mp4'] };
  const facts = { seconds: 5, inputSeconds: 3 };
  const counted = planOf([{ perSecond: { '720p': 1_000 }, inputSeconds: true }], body);
  expect(counted.hold.tokens).toBe(20_200);
  expect(tokensOf(counted, facts)).toBe(8_000);
  expect(tokensOf(planOf([{ perSecond: { '720p': 1_000 } }], body), facts)).toBe(5_000);
});

test('reference videos of a trusted account are charged as long as they are, however short it stated them', () => {
  const catalogue = withMeters([{ perSecond: { '720p': 1_000 }, inputSeconds: true }]);
  const videos = ['https://media.example.com/a.mp4'];
  const stated = { duration: 4, videos, metadata: { input_video_duration: 0.1 } };
  const plan = planIn(catalogue, stated, true);
  expect(plan.hold.tokens).toBe(4_100);
  expect(tokensOf(plan, { seconds: 4, inputSeconds: 8 })).toBe(12_000);
  expect(tokensOf(plan, { seconds: 4, inputSeconds: 15 })).toBe(19_000);
});

test('a job has one figure, whatever its length and the tokens that a provider reports', () => {
  const plan = planOf([{ perJob: { '720p': 77_000 } }]);
  expect(tokensOf(plan, { seconds: 9, tokens: 5 })).toBe(77_000);
});

test('the channel that made the video decides the meter, and the hold covers the dearest channel', () => {
  const plan = planOf([undefined, { perSecond: { '720p': 50_000 } }]);
  expect(plan.hold.tokens).toBe(250_000);
  expect(tokensOf(plan, { seconds: 5, tokens: 108_900 })).toBe(108_900);
  expect(tokensOf(plan, { seconds: 5, tokens: 108_900, channel: 'vendor-1' })).toBe(250_000);
});

test('two models at one channel have their own meters', () => {
  const choice = (upstreamModel: string, tokens: number) => ({
    ...{ channel: 'gpu', upstreamModel },
    meter: { perJob: { '720p': tokens } },
  });
  const plan = planIn(withChannels([choice('fast', 50_000), choice('slow', 100_000)]));
  const made = (upstreamModel: string) => ({ seconds: 5, channel: 'gpu', upstreamModel });
  expect(plan.hold.tokens).toBe(100_000);
  expect(tokensOf(plan, made('fast'))).toBe(50_000);
  expect(tokensOf(plan, made('slow'))).toBe(100_000);
});

test('a video whose provider reports no length has its measured length', () => {
  const generation = aSuccess({ durationSeconds: null });
  const size = { width: 1280, height: 720 };
  const stored = { stored: true, links: {}, expiresAt: 1, size, milliseconds: 5_042 } as const;
  const video = finishedVideo({
    plan: planOf([undefined]),
    generation,
    enhanced: undefined,
    stored,
  });
  expect([video.durationSeconds, video.usedSeconds]).toEqual([5.042, 5.042]);
  // A length of the file decides no price.
  expect(video.outputMilliseconds).toBeNull();
});
