// Whether a listing shows the job of a create that was not answered: row by row.

import { findInListing, type JobOwner, type ListedJob } from '../../src/domain/lost-job';

const lost = { taskId: 'ours', upstreamModel: 'ep-1', seed: 42 };
const sinceMs = 1_000;
const aJob = (over: Partial<ListedJob> = {}): ListedJob => ({
  upstreamId: 'a',
  seed: 7,
  createdAtMs: 2_000,
  differs: false,
  ...over,
});
const owned = (over: Partial<JobOwner> = {}): JobOwner => ({
  taskId: 'other',
  upstreamModel: 'ep-1',
  seed: 7,
  ...over,
});
const known = aJob({ upstreamId: 'known' });
const owners = (owner: JobOwner = owned()) => new Map([['known', owner]]);
const ours = aJob({ seed: 42 });

test.each<[string, readonly ListedJob[], ReadonlyMap<string, JobOwner>, string]>([
  ['nothing', [], new Map(), 'none'],
  ['a job of another task only', [known], owners(), 'none'],
  ['a stranger with another seed beside a known job', [known, aJob()], owners(), 'none'],
  ['an old stranger', [aJob({ createdAtMs: 500 })], new Map(), 'none'],
  ['the seed', [known, ours], owners(), 'one'],
  ['the seed alone', [ours], new Map(), 'one'],
  [
    'the seed, created at an unknown time',
    [aJob({ seed: 42, createdAtMs: null })],
    new Map(),
    'one',
  ],
  [
    'the seed of another task',
    [aJob({ upstreamId: 'known', seed: 42 })],
    owners(owned({ seed: 42 })),
    'none',
  ],
  ['the seed twice', [ours, aJob({ seed: 42, upstreamId: 'b' })], new Map(), 'unclear'],
  ['the seed and other parameters', [aJob({ seed: 42, differs: true })], new Map(), 'unclear'],
  ['the seed, created before', [aJob({ seed: 42, createdAtMs: 500 })], new Map(), 'unclear'],
  ['the seed without an id', [aJob({ seed: 42, upstreamId: null })], new Map(), 'unclear'],
  ['a stranger without a seed', [known, aJob({ seed: null })], owners(), 'unclear'],
  ['a stranger of unknown age, no known job', [aJob({ createdAtMs: null })], new Map(), 'unclear'],
  ['a stranger, no known job', [aJob()], new Map(), 'unclear'],
  [
    'a stranger, a known job of another model',
    [known, aJob()],
    owners(owned({ upstreamModel: 'ep-2' })),
    'unclear',
  ],
  [
    'a stranger, a known job with a drawn seed',
    [known, aJob()],
    owners(owned({ seed: 8 })),
    'unclear',
  ],
])('a listing with %s', (_, jobs, known, found) => {
  expect(findInListing({ jobs, isComplete: true, sinceMs }, known, lost).found).toBe(found);
});

test('an incomplete listing can show that a job exists, but not that it is absent', () => {
  expect(findInListing({ jobs: [], isComplete: false, sinceMs }, new Map(), lost).found).toBe(
    'unclear',
  );
  expect(findInListing({ jobs: [ours], isComplete: false, sinceMs }, new Map(), lost).found).toBe(
    'one',
  );
});
