import fc from 'fast-check';
import type { JobResult } from '../../src/jobs/job.rules';
import type { Plan } from '../../src/planning/plan-types.rules';
import { finalObject, finishedVideo, resultSources } from '../../src/tasks/ending.rules';
import { anEnhancedPlan, aPlan, aSuccess, aTaskId } from '../support/builders';

test('the video of an enhanced task comes from the enhancer, and its last frame from the generator', () => {
  const frame = 'https://media.example.com/frame.png';
  const video = 'https://enhancer.example.com/video.mp4';
  const sources = resultSources({
    plan: { ...anEnhancedPlan(), returnsLastFrame: true },
    generation: { ...aSuccess({ lastFrameUrl: frame }), channel: 'studio' },
    enhanced: {
      ...aSuccess({ videoUrl: video }),
      kind: 'super_resolution',
      channel: 'enhancer',
    },
    stored: undefined,
  });
  expect(sources).toEqual([
    { role: 'video', url: video, channel: 'enhancer', expiresAt: null },
    { role: 'last_frame', url: frame, channel: 'studio', expiresAt: null },
  ]);
});

const identity = { id: aTaskId(), traceId: 't', model: 'studio-2.0', createdAt: 1 };
const kept = { stored: true, links: {}, expiresAt: 1 } as const;
const enhancedBy = (durationSeconds: number | null, planned = 5, milliseconds?: number) =>
  finishedVideo({
    plan: { ...anEnhancedPlan(), durationSeconds: planned },
    generation: aSuccess({ durationSeconds: null }),
    enhanced: { ...aSuccess({ durationSeconds }), kind: 'super_resolution' },
    stored: { ...kept, ...(milliseconds === undefined ? {} : { milliseconds }) },
  });

test.each([
  ['counts as reported', 5.1, 5, 5_042, 5_100],
  ['counts up to the measured length and a second', 3_600, 5, 5_042, 6_042],
  ['counts up to a second more than a file that is shorter than requested', 60, 5, 3_000, 4_000],
  ['counts up to the measured length if the model chose it', 15, -1, 5_042, 6_042],
  ['counts up to three times the hold if the file has no length', 15.126, 5, undefined, 15_126],
])('the length of an enhancement %s', (_, reported, planned, measured, counted) => {
  const { outputMilliseconds, usageMissing } = enhancedBy(reported, planned, measured);
  expect({ outputMilliseconds, usageMissing }).toEqual({
    outputMilliseconds: counted,
    usageMissing: false,
  });
});

test.each([
  ['is more than three times the hold', 15.127, undefined, 5_042],
  ['is more than three times the hold, whatever the file says', 60, 60_000, 5_042],
  ['is not reported', null, undefined, 5_042],
  ['is not reported, and the file is as long as planned', null, 5_042, 5_042],
  ['is not reported, and the file is shorter', null, 3_000, 4_000],
])(
  'if the length of an enhancement %s, usage is missing, and the hold counts up to the measured length and a second',
  (_, reported, measured, counted) => {
    const { outputMilliseconds, usageMissing } = enhancedBy(reported, 5, measured);
    expect({ outputMilliseconds, usageMissing }).toEqual({
      outputMilliseconds: counted,
      usageMissing: true,
    });
  },
);

test('no reported figure charges a line more than the factor of the plan, and a bill says if none counts', () => {
  const figure = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: null });
  fc.assert(
    fc.property(figure, figure, fc.double({ min: 1, max: 5, noNaN: true }), (t, ms, factor) => {
      const plan = { ...anEnhancedPlan(), chargeMaxFactor: factor };
      const completionTokens = t === null ? null : Math.round(t);
      const durationSeconds = ms === null ? null : ms / 1_000;
      const enhanced = aSuccess({ durationSeconds });
      const work = {
        plan,
        generation: aSuccess({ completionTokens, durationSeconds: null }),
        enhanced: { ...enhanced, kind: 'super_resolution' as const },
        stored: kept,
      };
      const { object, charge } = finalObject(identity, work, { succeeded: true }, 1);
      const isHeld = charge.map((line, at) => {
        const held = plan.hold.lines[at]!;
        expect(line.amountMicros).toBeLessThanOrEqual(Math.ceil(factor * held.amountMicros));
        return line.amountMicros === held.amountMicros;
      });
      if (object.billing?.usage_missing) expect(isHeld).toContain(true);
    }),
  );
  const work = { plan: aPlan(), enhanced: undefined, stored: kept };
  const generation = aSuccess({ completionTokens: 900_000_000 });
  const { object } = finalObject(identity, { ...work, generation }, { succeeded: true }, 1);
  expect(object.billing).toMatchObject({ charged: '5.009400', usage_missing: true });
  expect(object.usage).toMatchObject({ completion_tokens: 108_900 });
});

test.each([
  ['the length that the model chose is not reported', -1, 0, { durationSeconds: null }, true],
  ['the length that the model chose is zero', -1, 0, { durationSeconds: 0 }, true],
  ['the length that the model chose is impossible', -1, 0, { durationSeconds: 1e9 }, true],
  ['the length that the model chose is reported', -1, 0, { durationSeconds: 6 }, false],
  ['the requested length is not reported', 5, 0, { durationSeconds: null }, false],
  ['the counted input seconds are not reported', 5, 8_000, { inputSeconds: null }, true],
  ['the counted input seconds are negative', 5, 8_000, { inputSeconds: -1 }, true],
  ['the counted input seconds are impossible', 5, 8_000, { inputSeconds: 1e9 }, true],
  ['the counted input seconds are reported', 5, 8_000, { inputSeconds: 3 }, false],
  ['no input seconds are counted', 5, 0, { inputSeconds: null }, false],
])(
  'if on a meter by seconds %s, a bill tells whether usage is missing',
  (_, asked, held, told, isMissing) => {
    const meter = {
      tokensPerSecond: 1_000,
      outMsMax: 15_000,
      inMsMax: held && 15_200,
      inMsHeld: held,
    };
    const plan = aPlan({
      durationSeconds: asked,
      channels: [{ channel: 'studio', upstreamModel: 'studio-2.0', meter }],
    });
    const generation = { ...aSuccess(told), channel: 'studio', upstreamModel: 'studio-2.0' };
    const work = { plan, generation, enhanced: undefined, stored: kept };
    const { object } = finalObject(identity, work, { succeeded: true }, 1);
    expect(object.billing?.usage_missing ?? false).toBe(isMissing);
  },
);

test('a length that a meter misses is charged as it is held', () => {
  const meter = { tokensPerSecond: 1_000, outMsMax: 15_000, inMsMax: 15_200, inMsHeld: 100 };
  const tokens = (over: Parameters<typeof aSuccess>[0]) =>
    finishedVideo({
      plan: aPlan({ channels: [{ channel: 'studio', upstreamModel: 'studio-2.0', meter }] }),
      generation: { ...aSuccess(over), channel: 'studio', upstreamModel: 'studio-2.0' },
      enhanced: undefined,
      stored: kept,
    }).completionTokens;
  expect(tokens({ durationSeconds: null, inputSeconds: 3 })).toBe(18_000);
  expect(tokens({ durationSeconds: 5, inputSeconds: null })).toBe(5_100);
  expect(tokens({ durationSeconds: 5, inputSeconds: 1e9 })).toBe(5_100);
});

const told = (plan: Plan, over: Partial<JobResult>, enhancedTo?: string | null) => {
  const enhanced = aSuccess({ resolution: enhancedTo ?? null });
  const generation = aSuccess({ resolution: null, seed: null, ...over });
  const work = {
    plan,
    generation,
    enhanced: plan.enhancement ? { ...enhanced, kind: 'super_resolution' as const } : undefined,
    stored: kept,
  };
  return finalObject(identity, work, { succeeded: true }, 1).object;
};

test.each([
  ['reported', aPlan(), { resolution: '768p' }, null, '768p'],
  ['planned if none is reported', aPlan(), {}, null, '720p'],
  ['that of its enhancer', anEnhancedPlan(), { resolution: '720p' }, '2k', '2k'],
  ['planned for its enhancer if that reports none', anEnhancedPlan(), {}, null, '1080p'],
  [
    'not known if its enhancer has a limit only and reports none',
    anEnhancedPlan({ resolution: null, resolutionLimit: 900 }),
    { resolution: '720p' },
    null,
    undefined,
  ],
] as const)('the resolution of a task is %s', (_, plan, over, enhancedTo, shown) => {
  expect(told(plan, over, enhancedTo).data[0]?.resolution).toBe(shown);
});

test.each([
  ['reported', { seed: 7, seedIsSent: true }, 7],
  ['planned if it was sent and none is reported', { seedIsSent: true }, 42],
  ['not known if it was not sent', {}, undefined],
] as const)('the seed of a task is %s', (_, over, shown) => {
  expect(told(aPlan(), over).seed).toBe(shown);
});
