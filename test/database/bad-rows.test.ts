// One row that cannot be stored or read must not block the others. A constraint makes PostgreSQL refuse
// a report here, because the service itself stores no text that PostgreSQL refuses.

import { withoutBadRows } from '../../src/database/bad-rows';
import { gatheredAtOnce } from '../../src/database/gathered';
import type { JobReport } from '../../src/jobs/job.rules';
import { findJob } from '../../src/jobs/queries.rows';
import { type JobNews, storeRejected, storeReports } from '../../src/jobs/steps.rows';
import { aSuccess, aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { insertTaskRow } from '../support/upstream';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.raw(
    `alter table jobs add constraint no_seed_13 check (report->'result'->>'seed' <> '13')`,
  );
});
afterAll(() => database?.drop());

const kind = 'generation';
const unreadable = { code: 'unreadable_report', ours: true };

async function anOpenJob(report: JobReport): Promise<JobNews> {
  const taskId = aTaskId();
  await insertTaskRow(database.db, taskId);
  await database.db('jobs').insert({
    ...{ task_id: taskId, account_id: 'acct_test', kind, state: 'open', attempt: 'a' },
    ...{ channel: 'studio', upstream_model: 'm', upstream_id: report.upstreamId || null },
  });
  return { taskId, kind, report };
}

const aReport = (seed: number): JobReport => ({
  ...aSuccess({ seed }),
  upstreamId: `up-${aTaskId()}`,
});

test('a report that cannot be stored ends its task, and the reports beside it are stored', async () => {
  const { db } = database;
  const seeds = [1, 13, 2, 3, 13];
  const changes = await Promise.all(seeds.map((seed) => anOpenJob(aReport(seed))));
  const told: unknown[] = [];
  const stored = await storeReports(db, changes, (name, state) => told.push([name.taskId, state]));
  const bad = changes.filter((_, index) => seeds[index] === 13).map(({ taskId }) => taskId);
  expect(told).toEqual(bad.map((taskId) => [taskId, '23514']));
  expect(stored.map(({ taskId }) => taskId).sort()).toEqual(
    changes.map(({ taskId }) => taskId).sort(),
  );
  for (const { taskId, report } of stored) {
    const job = await findJob(db, { taskId, kind });
    expect(job).toMatchObject({ state: 'reported', report });
    expect(report.failure ?? null).toEqual(
      bad.includes(taskId) ? expect.objectContaining(unreadable) : null,
    );
  }
});

test('a refusal with a text that PostgreSQL cannot read leaves a row that can be read', async () => {
  const { db } = database;
  const failure = { code: 'x\ud83d', sentence: 'It was refused.' };
  const report: JobReport = { kind, upstreamId: '', status: 'failed', failure };
  const job = await anOpenJob(report);
  await storeRejected(db, job, 'a', failure);
  expect(await db('jobs').where({ task_id: job.taskId }).select('refusal')).toMatchObject([
    { refusal: unreadable },
  ]);
});

async function numbersOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.db.raw<{ rows: { id: string; number: number }[] }>(
    'select id, cast(id as int) as number from unnest(cast(? as text[])) id',
    [[...ids]],
  );
  return new Map(rows.map(({ id, number }) => [id, number]));
}

test('one id that cannot be read fails only its own look-up', async () => {
  const find = gatheredAtOnce(2)(numbersOf);
  const looked = await Promise.allSettled(['1', 'x', '3', '4', 'y'].map(find));
  expect(looked).toMatchObject([
    { value: 1 },
    { reason: { code: '22P02' } },
    { value: 3 },
    { value: 4 },
    { reason: { code: '22P02' } },
  ]);
});

test('the look-ups after one with an id that cannot be read still send one statement at a time', async () => {
  const gather = gatheredAtOnce(1);
  let running = 0;
  let mostRunning = 0;
  const read = async (ids: readonly string[]) => {
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    return numbersOf(ids).finally(() => {
      running -= 1;
    });
  };
  const finds = [gather(read), gather(read), gather(read)];
  for (let round = 0; round < 2; round += 1) {
    await Promise.allSettled(finds.flatMap((find) => ['x', '2', '3'].map(find)));
  }
  expect(mostRunning).toBe(1);
});

test('a lost connection is no fault of a row, so the statement is not divided', async () => {
  let statements = 0;
  const rows = withoutBadRows([1, 2, 3, 4], async () => {
    statements += 1;
    await database.db.raw('select pg_terminate_backend(pg_backend_pid())');
    return [];
  });
  await expect(rows).rejects.toMatchObject({ code: '57P01' });
  expect(statements).toBe(1);
});
