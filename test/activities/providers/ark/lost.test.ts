// These tests read Ark's list of recent jobs, and check whether the listing counts as complete.
// Only a complete listing proves that a job is absent. What a task does with a listing is in lost-
// job.test.ts.

import { createArk } from '../../../../activities/providers/ark/client';
import { aJobInput, aPlan } from '../../../support/builders';
import { type PlayedArk, startPlayedArk } from '../../../support/played-ark';
import { readAll } from '../../../support/readings';

let ark: PlayedArk;
beforeEach(async () => {
  ark = await startPlayedArk();
});
afterEach(() => ark?.close());

const now = Math.floor(Date.now() / 1000);
const list = () => {
  const access = { apiKey: 'key', timeoutMs: 5_000, honoursIdempotencyKey: false, hasList: true };
  const client = createArk({ baseUrl: ark.url, ...access });
  return client.list(aJobInput({ plan: aPlan({ seed: 42 }) }), {
    sinceMs: (now - 300) * 1000,
    nowMs: now * 1000,
  });
};

test('a listed job is compared by the parameters that it shows, and its model is passed on', async () => {
  ark.add({ seed: 42 });
  ark.add({ seed: 42, duration: 9 });
  ark.add({ seed: undefined, resolution: undefined });
  expect((await list())?.jobs).toMatchObject([
    { seed: null, differs: false },
    { seed: 42, differs: true },
    { seed: 42, differs: false, model: 'doubao-seedance-2-0-260128' },
  ]);
});

const fill = (count: number, age = 0) => {
  for (let n = 0; n < count; n += 1) ark.add({ created_at: now - age });
};

test.each<[string, boolean, number, () => void]>([
  ['one page', true, 10, () => fill(10)],
  ['several pages', true, 1_100, () => fill(1_100)],
  ['an empty list', true, 0, () => undefined],
  [
    'one page that is not newest first',
    true,
    400,
    () => {
      fill(200, 900);
      fill(200);
      ark.order = (jobs) => [...jobs];
    },
  ],
  [
    'a list with older pages than needed',
    true,
    500,
    () => {
      fill(900, 900);
      fill(10);
    },
  ],
  [
    'several pages that are not newest first',
    false,
    1_100,
    () => {
      fill(1_000, 900);
      fill(100);
      ark.order = (jobs) => [...jobs];
    },
  ],
  [
    'a list that becomes shorter during the read',
    false,
    1_098,
    () => {
      fill(1_100);
      ark.onPage = (page) => {
        if (page === 2) ark.jobs.splice(-2);
      };
    },
  ],
  [
    'a list without a total',
    false,
    10,
    () => {
      fill(10);
      ark.total = () => undefined;
    },
  ],
  [
    'a list with a total above the number of its jobs',
    false,
    10,
    () => {
      fill(10);
      ark.total = () => 12;
    },
  ],
  [
    'several pages of jobs without a creation time',
    false,
    600,
    () => {
      fill(600);
      ark.echo = (job) => ({ ...job, created_at: undefined });
    },
  ],
  [
    'several pages whose newest jobs have no creation time yet',
    true,
    1_100,
    () => {
      fill(1_100);
      ark.echo = (job) => (Number(job.id.slice(4)) % 5 === 0 ? { id: job.id } : job);
    },
  ],
  [
    'several pages whose oldest jobs have no creation time',
    false,
    1_100,
    () => {
      fill(500, 100);
      fill(100, 70);
      fill(500);
      const oldest = now - 100;
      ark.echo = (job) => (job.created_at === oldest ? { ...job, created_at: undefined } : job);
    },
  ],
])(
  'a job listing that is read from %s has `isComplete` %s',
  async (_, isComplete, count, arrange) => {
    arrange();
    const listing = await list();
    expect(listing?.isComplete).toBe(isComplete);
    expect(listing?.jobs.length).toBe(count);
  },
);

test('a listing ends after 50 pages and then counts as incomplete', async () => {
  fill(60);
  ark.pageMax = 1;
  expect(await list()).toMatchObject({ isComplete: false, jobs: { length: 50 } });
});

test('an answer without a list is a fault, not an empty list', async () => {
  ark.order = () => 'none' as unknown as [];
  await expect(list()).rejects.toMatchObject({ code: 'NotAList' });
});

test('the jobs of a provider without list requests are read one by one', async () => {
  fill(60);
  const pages: number[] = [];
  ark.onPage = (page) => pages.push(page);
  const access = { apiKey: 'key', timeoutMs: 30_000, honoursIdempotencyKey: false, hasList: false };
  const client = createArk({ baseUrl: ark.url, ...access });
  const readings = await readAll(client, [...ark.jobs.map(({ id }) => id), 'gone']);
  expect([readings.size, pages]).toEqual([60, []]);
});

test('all open jobs are read even if the provider limits the page size', async () => {
  fill(250);
  ark.pageMax = 100;
  const access = { apiKey: 'key', timeoutMs: 5_000, honoursIdempotencyKey: false, hasList: true };
  const client = createArk({ baseUrl: ark.url, ...access });
  const readings = await readAll(client, [...ark.jobs.map(({ id }) => id), 'gone']);
  expect(readings.size).toBe(250);
});
