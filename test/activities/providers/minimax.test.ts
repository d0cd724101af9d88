// Faults of a create that only a provider has that speaks MiniMax's protocol, beside those of
// create-faults.test.ts. The protocol has no key, and
// its list shows nothing of ours. No task may have two jobs, and a task whose job cannot be found
// must end with a fault of the service, so that it is refunded.

import { createTestDatabase, type TestDatabase } from '../../support/database';
import { sentEarlier, startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeEach(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(
    database.db,
    (base) => {
      const baseUrl = base.baseUrl.replace('/api/v3', '');
      const channel = { ...base, baseUrl, protocol: 'minimax', listLagMs: 0 };
      return [channel, { ...channel, id: 'second' }];
    },
    'MiniMax-H3',
  );
});
afterEach(async () => {
  await upstream?.close();
  await database?.drop();
});

/**
 * Runs attempts until the activity returns an outcome. Before each repetition the create becomes
 * this much older.
 */
async function placed(create: object, agedBySeconds: number) {
  const input = await upstream.input({ create });
  for (let number = 1; ; number += 1) {
    try {
      const outcome = await upstream.attempt(input, {}, number);
      return { ...outcome, jobs: await upstream.accepted(input.taskId) };
    } catch (error) {
      if (number === 5) throw error;
      await sentEarlier(database.db, agedBySeconds, input.taskId);
    }
  }
}
const settled = 30;
const older = 700;

const unsent: readonly [string, object][] = [
  ['500 that knows no record', { status: 500, code: 'RecordNotFound' }],
  ['529', { status: 529 }],
];

test.each(unsent)(
  'after %s a list without unknown jobs proves that there is none',
  async (_, fault) => {
    const known = await placed({}, settled);
    expect(known).toMatchObject({ outcome: 'open', jobs: 1 });
    const outcome = await placed({ ...fault, times: 1 }, settled);
    expect(outcome).toMatchObject({ outcome: 'open', jobs: 1 });
  },
);

const unknown = {
  outcome: 'rejected',
  report: { failure: { code: 'submission_unknown', ours: true } },
};

test('a job whose answer was lost is never taken for ours and never made again', async () => {
  const outcome = await placed({ lose_reply: true, times: 1 }, older);
  expect(outcome).toMatchObject({ ...unknown, jobs: 1 });
  expect(upstream.events.map(({ name }) => name)).toContain('lostJobUnresolved');
});

test.each(unsent)(
  'after %s an unknown job in the list keeps the create from being sent again',
  async (_, fault) => {
    await placed({ lose_reply: true, times: 1 }, older);
    expect(await placed({ ...fault, times: 1 }, older)).toMatchObject({ ...unknown, jobs: 0 });
  },
);

test.each([
  ['429', { status: 429 }],
  ['401', { status: 401 }],
  ['402', { status: 402 }],
  ['no credit as a code', { status: 400, code: '1008' }],
])('after %s the next channel gets the create, and there is one job', async (_, fault) => {
  const outcome = await placed({ ...fault, times: 1 }, settled);
  expect(outcome).toMatchObject({ outcome: 'open', channel: 'second', jobs: 1 });
});

test.each([
  ['a wrong parameter', { status: 400 }, '2013'],
  ['a refused content', { status: 422, code: '1026' }, '1026'],
])('after %s no other channel gets the create', async (_, fault, code) => {
  const outcome = await placed({ ...fault, times: 1 }, settled);
  expect(outcome).toMatchObject({ outcome: 'rejected', report: { failure: { code } }, jobs: 0 });
});
