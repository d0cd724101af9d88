// Tests the search for the job of a create that was not answered. Each row has a listing of the
// provider, the known owners of its jobs, and the result of the search.

import { findInListing, type JobOwner, type ListedJob } from '../../src/jobs/lost-job.rules';

const lost = { taskId: 'ours', upstreamModel: 'ep-1', drawnSeed: 42 };
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
  ['no jobs', [], new Map(), 'none'],
  ['only a job of another task', [known], owners(), 'none'],
  ['an unknown job with another seed beside a known job', [known, aJob()], owners(), 'none'],
  ['an unknown job from before the create', [aJob({ createdAtMs: 500 })], new Map(), 'none'],
  ['a job with our seed beside a known job', [known, ours], owners(), 'one'],
  ['only a job with our seed', [ours], new Map(), 'one'],
  [
    'a job with our seed and an unknown creation time',
    [aJob({ seed: 42, createdAtMs: null })],
    new Map(),
    'one',
  ],
  [
    'a job with our seed that belongs to another task',
    [aJob({ upstreamId: 'known', seed: 42 })],
    owners(owned({ seed: 42 })),
    'none',
  ],
  ['two jobs with our seed', [ours, aJob({ seed: 42, upstreamId: 'b' })], new Map(), 'unclear'],
  [
    'a job with our seed and other parameters',
    [aJob({ seed: 42, differs: true })],
    new Map(),
    'unclear',
  ],
  [
    'a job with our seed from before the create',
    [aJob({ seed: 42, createdAtMs: 500 })],
    new Map(),
    'unclear',
  ],
  [
    'a job with our seed but without an id',
    [aJob({ seed: 42, upstreamId: null })],
    new Map(),
    'unclear',
  ],
  [
    'an unknown job without a seed beside a known job',
    [known, aJob({ seed: null })],
    owners(),
    'unclear',
  ],
  ['only an unknown job of unknown age', [aJob({ createdAtMs: null })], new Map(), 'unclear'],
  ['only an unknown job', [aJob()], new Map(), 'unclear'],
  [
    'an unknown job beside a known job of another model',
    [known, aJob()],
    owners(owned({ upstreamModel: 'ep-2' })),
    'unclear',
  ],
  [
    'an unknown job beside a known job that has another seed than we sent',
    [known, aJob()],
    owners(owned({ seed: 8 })),
    'unclear',
  ],
])(
  'the search for a lost job gives the expected result if the listing contains %s',
  (_, jobs, known, found) => {
    expect(findInListing({ jobs, isComplete: true, sinceMs }, known, lost).found).toBe(found);
  },
);

test('an incomplete listing can show that a job exists, but not that it is absent', () => {
  expect(findInListing({ jobs: [], isComplete: false, sinceMs }, new Map(), lost).found).toBe(
    'unclear',
  );
  expect(findInListing({ jobs: [ours], isComplete: false, sinceMs }, new Map(), lost).found).toBe(
    'one',
  );
});

test.each<[string, readonly ListedJob[], string]>([
  ['a job with its seed', [ours], 'unclear'],
  ['a job with its seed beside a known job', [known, ours], 'unclear'],
  ['a job with another seed beside a known job', [known, aJob()], 'unclear'],
  ['a job without a seed', [aJob({ seed: null })], 'unclear'],
  ['only a job of another task', [known], 'none'],
  ['no jobs', [], 'none'],
])(
  'a seed that the service did not draw is no evidence if the listing contains %s',
  (_, jobs, found) => {
    const listing = { jobs, isComplete: true, sinceMs };
    const chosen = { ...lost, drawnSeed: null };
    expect(findInListing(listing, owners(), chosen).found).toBe(found);
  },
);

test.each<[string, string | null, string | null, string]>([
  ['the model that was sent', 'ep-1', 'ep-1', 'one'],
  ['another model', 'ep-1', 'ep-2', 'unclear'],
  ['no model', 'ep-1', null, 'one'],
  ['a model, as known jobs do that were sent to an endpoint', 'model-9', 'model-8', 'one'],
])('a job with our seed that shows %s is found or not', (_, shown, model, found) => {
  const jobs = [
    { ...known, model: shown },
    { ...ours, model },
  ];
  expect(findInListing({ jobs, isComplete: true, sinceMs }, owners(), lost).found).toBe(found);
});

describe('a list that shows our names', () => {
  const named = aJob({ seed: null, isOurs: true });
  const foreign = aJob({ seed: null, upstreamId: 'b', isOurs: false });

  test.each<[string, readonly ListedJob[], boolean, object]>([
    ['our job', [foreign, named], true, { found: 'one', upstreamId: 'a' }],
    ['our job on a list that is cut', [named], false, { found: 'one' }],
    ['our name twice', [named, { ...named, upstreamId: 'c' }], true, { found: 'unclear' }],
    ['only jobs with other names', [foreign], true, { found: 'none' }],
    ['only jobs with other names, and is cut', [foreign], false, { found: 'unclear' }],
  ])('and that has %s, is read as such', (_, jobs, isComplete, found) => {
    expect(findInListing({ jobs, isComplete, sinceMs }, new Map(), lost)).toMatchObject(found);
  });
});
