// Tests the sentences on why a task waits: at least one row for each code.

import {
  type ChannelFacts,
  type JobFacts,
  type WaitingCode,
  type WaitingFacts,
  whyWaiting,
} from '../../src/tasks/waiting.rules';

const now = new Date('2027-01-31T14:02:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

const ark: ChannelFacts = {
  ...{ channel: 'ark', slotsUsed: 10, slotsMax: 10, waitingJobs: 42, waitingAccounts: 3 },
  ...{ restsUntil: null, fault: null, faultAt: null, roundAt: ago(4), isInCatalogue: true },
  ...{ pausedAt: null, pausedBy: null, pausedWhy: null },
};
const byAnn = { pausedAt: ago(60), pausedBy: 'Ann', pausedWhy: 'key rotation' };
const aJob: JobFacts = {
  ...{ state: 'planned', status: 'queued', channel: null, upstreamId: null },
  ...{ attemptBy: null, sentAt: null, openedAt: null, searchedSince: null },
  ...{ missingSince: null, place: null },
};
const placed: Partial<JobFacts> = {
  ...{ state: 'open', channel: 'ark', upstreamId: 'cgt-1', openedAt: ago(59) },
};
const anAccount = { runningMax: null, running: 0 };

interface Given extends Partial<Omit<WaitingFacts, 'job'>> {
  readonly job?: Partial<JobFacts> | null;
}

function reasons({ job = {}, ...facts }: Given) {
  return whyWaiting({
    ...{ now, createdAt: ago(12), isOpened: true, channels: [ark], account: anAccount },
    ...{ pending: { tasks: 0, oldestAt: null }, storingSince: null },
    ...facts,
    job: job && { ...aJob, ...job },
  });
}

const rows: [code: WaitingCode, given: Given, sentence: string][] = [
  [
    'not_started',
    { isOpened: false, job: null, pending: { tasks: 3, oldestAt: ago(40) } },
    'Accepted 12 s ago; Temporal has not started it. 3 tasks of all customers are pending, the oldest for 40 s.',
  ],
  [
    'not_started',
    { isOpened: false, job: null, pending: { tasks: 1, oldestAt: ago(12) } },
    'Accepted 12 s ago; Temporal has not started it. 1 task of all customers is pending, the oldest for 12 s.',
  ],
  ['being_placed', {}, 'It is being placed with ark.'],
  [
    'being_placed',
    { job: { attemptBy: ago(-15) } },
    'It is being placed with ark. An attempt is at work, or the next one begins by 14:02:15 UTC.',
  ],
  [
    'being_placed',
    { channels: [{ ...ark, fault: 'has too many requests', faultAt: ago(5) }] },
    'It is being placed with ark. ark: has too many requests (14:01:55 UTC).',
  ],
  [
    'being_placed',
    { channels: [{ ...ark, fault: 'has too many requests', faultAt: ago(500) }] },
    'It is being placed with ark.',
  ],
  [
    'paused',
    { channels: [{ ...ark, ...byAnn }], job: { state: 'waiting', place: 5 } },
    'Ann paused ark at 14:01:00 UTC: "key rotation".',
  ],
  [
    'paused',
    { channels: [{ ...ark, ...byAnn }] },
    'Ann paused ark at 14:01:00 UTC: "key rotation".',
  ],
  [
    'slots',
    { job: { state: 'waiting', place: 5 } },
    'ark: 10 of 10 slots used. 42 jobs of 3 customers wait; this one is the 5th of its customer, and customers take turns.',
  ],
  [
    'slots',
    {
      job: { state: 'waiting', place: 1 },
      channels: [{ ...ark, slotsMax: undefined, slotsUsed: 1, waitingJobs: 1, waitingAccounts: 1 }],
    },
    'ark: 1 slot used. 1 job of 1 customer waits; this one is the 1st of its customer.',
  ],
  [
    'account_limit',
    { job: { state: 'waiting', place: 2 }, account: { runningMax: 3, running: 3 } },
    'The customer runs 3 of its 3 tasks (running-max).',
  ],
  [
    'rests',
    { channels: [{ ...ark, restsUntil: ago(-180), fault: 'cannot be reached' }] },
    'ark rests until 14:05:00 UTC: it cannot be reached.',
  ],
  [
    'no_channel',
    { job: { state: 'waiting' }, channels: [{ ...ark, isInCatalogue: false }] },
    'Every channel of its plan has left the catalogue: ark.',
  ],
  [
    'sending',
    { job: { state: 'sending', channel: 'ark', sentAt: ago(2) } },
    'The create was sent to ark 2 s ago; the answer is awaited.',
  ],
  [
    'unanswered',
    { job: { state: 'sending', channel: 'ark', sentAt: ago(40), searchedSince: ago(30) } },
    'The create was sent to ark 40 s ago and not answered; the list of ark is searched since 14:01:30 UTC. No other channel gets it.',
  ],
  [
    'at_provider',
    { job: placed },
    'ark has it as cgt-1 since 14:01:01 UTC and says queued; last asked 4 s ago.',
  ],
  [
    'missing',
    { job: { ...placed, missingSince: ago(86_400) } },
    'ark does not know cgt-1 since 2027-01-30 14:02:00 UTC; the task ends if that stays.',
  ],
  [
    'unwatched',
    { job: { ...placed, status: 'running' }, channels: [{ ...ark, roundAt: ago(420) }] },
    'No worker has asked ark since 13:55:00 UTC.',
  ],
  [
    'unwatched',
    { job: placed, channels: [{ ...ark, roundAt: null }] },
    'No worker has asked ark since 14:01:01 UTC.',
  ],
  [
    'reported',
    { job: { ...placed, state: 'reported', status: 'succeeded' } },
    'The job has ended at ark (succeeded); its workflow is notified.',
  ],
  [
    'storing',
    { storingSince: ago(120) },
    'The video is made; it is being copied since 14:00:00 UTC.',
  ],
  ['ending', { job: null }, 'No job of it is left; its workflow goes on or ends it.'],
];

test.each(rows)('%s: %j', (code, given, sentence) => {
  expect(reasons(given)).toContainEqual({ code, sentence });
});

test('a job that its provider works on does not wait', () => {
  expect(reasons({ job: { ...placed, status: 'running' } })).toEqual([]);
});

test('a limit of the customer, full channels and a rest are told together', () => {
  const channels = [ark, { ...ark, channel: 'kling', restsUntil: ago(-60) }];
  const account = { runningMax: 1, running: 1 };
  const told = reasons({ job: { state: 'waiting', place: 12 }, channels, account });
  expect(told.map(({ code }) => code)).toEqual(['account_limit', 'slots', 'slots', 'rests']);
  expect(told[1]?.sentence).toContain('the 12th of its customer');
});

test.each([
  [2, '2nd'],
  [3, '3rd'],
  [11, '11th'],
  [13, '13th'],
  [20, '20th'],
  [21, '21st'],
])('the place %d of a job is told as %s', (place, told) => {
  const [slots] = reasons({ job: { state: 'waiting', place } });
  expect(slots?.sentence).toContain(`this one is the ${told} of its customer`);
});

test('the slots of a paused channel are not told, because it has none to give', () => {
  const channels = [{ ...ark, ...byAnn, restsUntil: ago(-60) }];
  const told = reasons({ job: { state: 'waiting', place: 1 }, channels });
  expect(told.map(({ code }) => code)).toEqual(['paused']);
});
