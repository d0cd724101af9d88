// Every statement that tells the state of a live task tells the state that callers see: the statement
// behind GET, the lists of each status, and the counts of the metrics.

import { listTasks } from '../../src/tasks/list.rows';
import { readOpenWork } from '../../src/tasks/open-work.rows';
import { findTask } from '../../src/tasks/tasks.rows';
import { anAccountWith, anOpening, openNew, storePending } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';

const accountId = 'acct';
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(2);
  await anAccountWith(database.db, accountId, 1_000);
});
afterAll(() => database?.drop());
beforeEach(() => database.db.raw('truncate tasks, jobs cascade'));

const steps: Record<string, string> = {
  'the generator has the job': `update jobs set state = 'open', channel = 'studio'`,
  'the generation runs': `update jobs set status = 'running'`,
  'the generation is done': `update jobs set status = 'succeeded'`,
  'the generation has failed': `update jobs set status = 'failed'`,
  'an enhancement is planned': `insert into jobs (task_id, kind, account_id)
                                select task_id, 'super_resolution', account_id from jobs`,
  'the enhancement runs': `update jobs set status = 'running' where kind = 'super_resolution'`,
  'the enhancement is done': `update jobs set status = 'succeeded' where kind = 'super_resolution'`,
  'an enhancement was asked for': `update tasks
                                      set plan = (plan::jsonb || '{"enhancement": {}}')::json`,
};
const [open, runs, done, failed, planned, enhances, enhanced, asked] = Object.keys(
  steps,
) as string[];

test.each<[string, (string | undefined)[]]>([
  ['pending', []],
  ['submitted', []],
  ['submitted', [open]],
  ['running: generation', [open, runs]],
  ['running: generation', [open, failed]],
  ['running: super_resolution', [asked, open, done, planned]],
  ['running: super_resolution', [asked, open, done, planned, enhances]],
  ['running: storing', [open, done]],
  ['running: storing', [asked, open, done, planned, enhanced]],
])('all statements call a task "%s" after %j', async (state, happened) => {
  const { db } = database;
  const id = aTaskId();
  const input = anOpening(accountId, id, 40);
  await (state === 'pending' ? storePending(db, input, { toldPending: true }) : openNew(db, input));
  for (const step of happened) await db.raw(steps[step!]!);

  const stored = await findTask(db, id);
  const object = JSON.parse(stored?.object ?? '') as { status: string; stage?: string };
  expect(shown(object)).toBe(state);
  const { tasks } = await readOpenWork(db);
  expect(tasks.map(shown)).toEqual([state]);
  const listed = ['pending', 'submitted', 'running'] as const;
  const found = await Promise.all(
    listed.map(async (status) => {
      const { rows } = await listTasks(db, { accountId, status, limit: 10 });
      return rows.length > 0 ? [status] : [];
    }),
  );
  expect(found.flat()).toEqual([object.status]);
});

const shown = ({ status, stage }: { status: string; stage?: string | null }) =>
  stage ? `${status}: ${stage}` : status;
