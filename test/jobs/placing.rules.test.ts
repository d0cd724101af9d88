// Tests the steps of an attempt to place a job. A model plays the row of the job, a provider and
// workers that die at any point. It checks that no order of events makes a second job.

import fc from 'fast-check';
import type { FaultKind } from '../../src/jobs/create-answer.rules';
import type { JobState } from '../../src/jobs/job.rules';
import type { LostJob } from '../../src/jobs/lost-job.rules';
import {
  newJob,
  nextStep,
  type PlacingEvent,
  type PlacingJob,
  type PlacingStep,
} from '../../src/jobs/placing.rules';

const minute = 60_000;
const hour = 60 * minute;
const fresh = newJob({ taskId: 'task', kind: 'generation' });
const delays = { listedAfterMs: 30_000, answeredAfterMs: 20_000 };
const lost: PlacingJob = { ...fresh, isLost: true, sentAgoMs: minute, ...delays };
const keyed: PlacingJob = { ...lost, mayBeRepeated: true, isRepeatable: true };
const enhancement: PlacingJob = { ...fresh, canRenewLink: true };

const faults: readonly FaultKind[] = [
  'caller',
  'operator',
  'unavailable',
  'busy',
  'ambiguous',
  'not_found',
  'late',
];
const found: readonly (LostJob | null)[] = [
  { found: 'one', upstreamId: 'a' },
  { found: 'none' },
  { found: 'unclear', why: 'two' },
  null,
];
const stored = ['open', 'unwanted', 'not ours', 'second'] as const;

/** The steps in a few words: `release, offer` or `retry SubmissionUnknown`. */
function words(step: PlacingStep): string {
  if (step.do === 'release' || step.do === 'cancel') return `${step.do}, ${words(step.next)}`;
  return step.do === 'retry' ? `retry ${step.failure}` : step.do;
}

test.each<[string, PlacingJob, PlacingEvent, string]>([
  ['begins', fresh, { is: 'begun' }, 'offer'],
  ['has a slot', fresh, { is: 'slot taken' }, 'send'],
  ['finds all channels full', fresh, { is: 'full' }, 'queue for a slot'],
  ['finds no channel', fresh, { is: 'no channel', restMs: 9 }, 'retry NoChannelAvailable'],
  ['finds that the job has moved', fresh, { is: 'moved' }, 'take over'],
  ['is accepted', fresh, { is: 'accepted', upstreamId: 'a' }, 'store'],
  ['is accepted again', keyed, { is: 'accepted', upstreamId: 'a' }, 'store'],
  [
    'could not look the job up',
    lost,
    { is: 'not looked up', retryAfterMs: 9 },
    'retry SubmissionUnknown',
  ],
  ['has a new link', enhancement, { is: 'link renewed' }, 'release, offer'],
  [
    'has a new link for a repetition',
    { ...enhancement, isLost: true },
    { is: 'link renewed' },
    'take over',
  ],
  ['was superseded', fresh, { is: 'superseded' }, 'retry Superseded'],
])('an attempt that %s takes the expected step', (_, job, event, step) => {
  expect(words(nextStep(job, event))).toBe(step);
});

test.each<[string, Partial<PlacingJob>, string]>([
  ['is not being sent', {}, 'retry JobMoved'],
  ['was accepted', { isAccepted: true }, 'wait for the end'],
  ['has ended', { isAccepted: true, hasEnded: true }, 'return the end'],
  ['may have arrived', lost, 'look up'],
  ['may have arrived with a key', keyed, 'repeat'],
  ['may have arrived with a key that is forgotten', { ...keyed, sentAgoMs: 20 * hour }, 'look up'],
  [
    'may have arrived at an unknown channel',
    { ...keyed, isChannelKnown: false },
    'retry ChannelGone',
  ],
])('an attempt that takes over a job that %s takes the expected step', (_, over, step) => {
  expect(words(nextStep({ ...fresh, ...over }, { is: 'taken over' }))).toBe(step);
});

test.each<readonly [FaultKind, string, string]>([
  ['caller', 'release, fail the task', 'look up'],
  ['operator', 'release, offer', 'retry SubmissionUnknown'],
  ['unavailable', 'release, offer', 'retry SubmissionUnknown'],
  ['busy', 'release, offer', 'retry SubmissionUnknown'],
  ['not_found', 'release, offer', 'retry SubmissionUnknown'],
  ['late', 'release, retry TooLate', 'retry SubmissionUnknown'],
  ['ambiguous', 'retry SubmissionUnknown', 'retry SubmissionUnknown'],
])('after the fault "%s" of a create: %s; of its repetition: %s', (fault, first, repeat) => {
  expect(words(nextStep(fresh, { is: 'refused', fault }))).toBe(first);
  expect(words(nextStep(keyed, { is: 'refused', fault }))).toBe(repeat);
});

test('the refusal of an enhancement is first answered with a new link', () => {
  const refused: PlacingEvent = { is: 'refused', fault: 'caller' };
  expect(nextStep(enhancement, refused)).toEqual({ do: 'renew the link' });
  const asked = { ...enhancement, canRenewLink: false };
  expect(words(nextStep(asked, refused))).toBe('release, fail the task');
});

test.each<[string, number, LostJob | null, string]>([
  ['shows the job', minute, { found: 'one', upstreamId: 'a' }, 'store'],
  ['does not show the job yet', 29_999, { found: 'none' }, 'retry SubmissionUnknown'],
  ['does not show the job in time', 30_000, { found: 'none' }, 'release, offer'],
  ['does not exist, and an answer may be stored', 139_999, null, 'retry SubmissionUnknown'],
  ['does not exist', 140_000, null, 'give up'],
])(
  'if the list of the provider %s, the attempt takes the expected step',
  (_, sentAgoMs, job, step) => {
    expect(words(nextStep({ ...lost, sentAgoMs }, { is: 'looked up', job }))).toBe(step);
  },
);

test.each([
  ['for ten minutes', 10 * minute, 'retry SubmissionUnknown'],
  ['for longer', 10 * minute + 1, 'give up'],
])('if the lists leave it open %s whether there is a job: %s', (_, searchedForMs, step) => {
  const job: LostJob = { found: 'unclear', why: '' };
  // The time of the create does not matter: the provider may have been away since then.
  for (const sentAgoMs of [minute, hour]) {
    const searched = { ...lost, sentAgoMs, searchedForMs };
    expect(words(nextStep(searched, { is: 'looked up', job }))).toBe(step);
  }
});

test.each([
  ['open', 'wait for the end'],
  ['unwanted', 'cancel, wait for the end'],
  ['not ours', 'give up'],
  ['second', 'cancel, retry SecondJob'],
] as const)('if the row of the job is "%s" when the upstream id is stored: %s', (as, step) => {
  expect(words(nextStep(fresh, { is: 'stored', upstreamId: 'a', as }))).toBe(step);
});

test('in every state and after every event, a job whose create may have arrived is created again only with a key, or after a list without the job', () => {
  const events: readonly PlacingEvent[] = [
    { is: 'taken over' },
    { is: 'accepted', upstreamId: 'a' },
    ...faults.map((fault) => ({ is: 'refused', fault }) as const),
    { is: 'link renewed' },
    ...found.map((job) => ({ is: 'looked up', job }) as const),
    { is: 'not looked up', retryAfterMs: null },
    ...stored.map((as) => ({ is: 'stored', upstreamId: 'a', as }) as const),
    { is: 'superseded' },
  ];
  const both = [true, false];
  const keys = [
    [true, true],
    [true, false],
    [false, false],
  ] as const;
  let checked = 0;
  // A channel may honour keys no longer after its jobs were sent with keys.
  for (const isLost of both)
    for (const isAccepted of both)
      for (const [mayBeRepeated, isRepeatable] of keys)
        for (const canRenewLink of isRepeatable ? both : [false])
          for (const sentAgoMs of [0, minute, 21 * hour])
            for (const event of events) {
              const facts = { isLost, isAccepted, canRenewLink, sentAgoMs };
              const job = { ...lost, ...facts, mayBeRepeated, isRepeatable };
              const isAbsent = event.is === 'looked up' && event.job?.found === 'none';
              const step = words(nextStep(job, event));
              checked += 1;
              if (event.is === 'link renewed') continue; // Follows only a refusal with a new link.
              if (!isLost && event.is !== 'taken over') continue; // The create has had its answer.
              if (step === 'repeat') {
                expect([isRepeatable, sentAgoMs < 20 * hour, isLost]).toEqual([true, true, true]);
              }
              if (/offer|^send$/.test(step))
                expect([isAbsent, sentAgoMs > (mayBeRepeated ? 20 * hour : 30_000)]).toEqual([
                  true,
                  true,
                ]);
            }
  expect(checked).toBeGreaterThan(900);
});

/** What happens to one create, as far as the provider and this service know it. */
type Fate =
  | 'accepted'
  | 'accepted, reply lost'
  | 'lost on the way'
  | 'worker dies after'
  | FaultKind;

const fates: readonly Fate[] = [
  'accepted',
  'accepted, reply lost',
  'lost on the way',
  'worker dies after',
  ...faults.filter((fault) => fault !== 'ambiguous'),
];

const attemptsMax = 500;
// The list of the provider shows a job after this time.
const lagMs = 29_000;

/**
 * Plays attempts until one has a result. The provider honours keys or has a list, or both, or
 * neither. The clock advances between attempts. Returns the number of jobs that were made.
 */
function play(
  provider: { keys: boolean; list: boolean },
  script: readonly Fate[],
  gapsMs: readonly number[],
) {
  const row = { state: 'planned' as JobState, upstreamId: '', sentAt: 0 };
  const next = [...script];
  let [jobs, now, listedAt] = [0, 0, 0];
  const create = (isRepeat: boolean): PlacingEvent | 'dead' => {
    const fate = next.shift() ?? 'accepted';
    const accept = () => {
      const isKnown = isRepeat && provider.keys && jobs > 0;
      if (!isKnown) {
        jobs += 1;
        listedAt = now + lagMs;
      }
      return `job_${jobs}`;
    };
    if (fate === 'accepted') return { is: 'accepted', upstreamId: accept() };
    if (fate === 'accepted, reply lost') {
      accept();
      return { is: 'refused', fault: 'ambiguous' };
    }
    if (fate === 'lost on the way') return { is: 'refused', fault: 'ambiguous' };
    if (fate !== 'worker dies after') return { is: 'refused', fault: fate };
    accept();
    return 'dead';
  };
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    now += gapsMs[attempt % gapsMs.length] ?? 0;
    let job = fresh;
    let event: PlacingEvent | 'dead' = { is: 'begun' };
    const step = (one: PlacingStep): PlacingEvent | 'dead' | 'end' => {
      switch (one.do) {
        case 'offer':
          if (row.state !== 'planned') return { is: 'moved' };
          Object.assign(row, { state: 'sending', sentAt: now });
          job = { ...job, isLost: false };
          return { is: 'slot taken' };
        case 'take over':
          job = {
            ...job,
            isAccepted: row.upstreamId !== '',
            isLost: row.state === 'sending',
            isRefused: false,
            mayBeRepeated: provider.keys,
            isRepeatable: provider.keys,
            sentAgoMs: now - row.sentAt,
            listedAfterMs: 30_000,
          };
          return { is: 'taken over' };
        case 'send':
          return create(false);
        case 'repeat': {
          const answer = create(true);
          if (answer !== 'dead' && answer.is === 'refused') job = { ...job, isRefused: true };
          return answer;
        }
        case 'look up': {
          const here =
            jobs > 0 && now >= listedAt
              ? { found: 'one' as const, upstreamId: `job_${jobs}` }
              : null;
          return { is: 'looked up', job: provider.list ? (here ?? { found: 'none' }) : null };
        }
        case 'store':
          Object.assign(row, { state: 'open', upstreamId: one.upstreamId });
          return { is: 'stored', upstreamId: one.upstreamId, as: 'open' };
        case 'release':
          row.state = 'planned';
          return step(one.next);
        case 'retry':
          return 'dead';
        default:
          return 'end';
      }
    };
    for (let steps = 0; event !== 'dead'; steps += 1) {
      if (steps > 30) throw new Error('An attempt does not end.');
      const happened = step(nextStep(job, event));
      if (happened === 'end') return { jobs, attempts: attempt + 1 };
      event = happened;
    }
  }
  return { jobs, attempts: attemptsMax };
}

test('a job is never created twice, whatever happens to each of its creates', () => {
  const provider = fc.record({ keys: fc.boolean(), list: fc.boolean() });
  const script = fc.array(fc.constantFrom(...fates), { maxLength: 8 });
  const gap = fc.constantFrom(1_000, 40_000, 11 * minute, 20 * hour);
  const gaps = fc.array(gap, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(provider, script, gaps, (ability, fated, gapsMs) => {
      const { jobs, attempts } = play(ability, fated, gapsMs);
      expect(jobs).toBeLessThanOrEqual(1);
      expect(attempts).toBeLessThan(attemptsMax);
    }),
    { numRuns: 5_000 },
  );
});

test('after a refused repetition a list without the job does not prove that an earlier repetition made none', () => {
  const refused = { ...keyed, isRefused: true };
  const none: PlacingEvent = { is: 'looked up', job: { found: 'none' } };
  expect(words(nextStep(refused, none))).toBe('fail the task');
  expect(words(nextStep({ ...refused, sentAgoMs: 29_999 }, none))).toBe('retry SubmissionUnknown');
  const late = { ...keyed, sentAgoMs: 20 * hour + 29_999 };
  expect(words(nextStep(late, none))).toBe('retry SubmissionUnknown');
  expect(words(nextStep({ ...late, sentAgoMs: 20 * hour + 30_000 }, none))).toBe('release, offer');
});
