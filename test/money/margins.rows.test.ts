// What a job cost upstream is kept with the job, and the operator sees it as a margin.

import type { Knex } from 'knex';
import type { JobKind } from '../../src/jobs/job.rules';
import { listOpenJobs } from '../../src/jobs/queries.rows';
import { storeReports } from '../../src/jobs/steps.rows';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import { rollUp } from '../../src/money/roll-up.rows';
import { type Dimension, lastDays, readUsage } from '../../src/money/usage.rows';
import type { PlannedChoice } from '../../src/planning/plan-types.rules';
import { adminWith } from '../support/admin';
import { aClosing, anAccountWith, anOpening, changeMovements, openNew } from '../support/books';
import { aPlan, aSuccess, aTaskId } from '../support/builders';
import { createTestDatabase, rowsRead, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await anAccountWith(database.db, 'acct', 1_000_000_000);
});
afterAll(() => database?.drop());

const admin = adminWith(() => ({ DATABASE_URL: database.operatorUrl }));
const held = 5_000_000;

/** Runs a task whose job is at this channel to its end. */
async function aTask(
  choice: PlannedChoice,
  charged: number | null,
  report = {},
  others: readonly PlannedChoice[] = [],
): Promise<string> {
  const { db } = database;
  const taskId = aTaskId();
  const opening = anOpening('acct', taskId, held);
  const { hold } = opening.plan;
  await openNew(db, { ...opening, plan: aPlan({ hold, channels: [...others, choice] }) });
  const { channel, upstreamModel } = choice;
  await db.raw(
    `update jobs set state = 'open', channel = ?, upstream_model = ?, upstream_id = ?,
            opened_at = now() where task_id = ?`,
    [channel, upstreamModel, `up-${taskId}`, taskId],
  );
  const known = { ...aSuccess(), channel, upstreamModel };
  await storeReports(db, [{ taskId, kind: 'generation', report: { ...known, ...report } }]);
  expect((await listOpenJobs(db, channel)).length).toBe(0);
  await closeTask(db, aClosing(taskId, held, charged));
  return taskId;
}

const costOf = async (taskId: string) =>
  (await admin(`tasks show ${taskId} --json`)).json.jobs[0].costMicros;

const byTokens = {
  ...{ channel: 'ark', upstreamModel: 'm' },
  cost: { microsPerMillionTokens: 30_000_000 },
};
const byJob = { channel: 'kling', upstreamModel: 'm', cost: { microsPerJob: 2_000_000 } };
const unknown = { channel: 'own', upstreamModel: 'm' };

/** A row of a report, as the margins show it. */
const sums = (revenueMicros: number, costMicros: number) => ({
  ...{ revenueMicros, known: { revenueMicros, costMicros } },
});

async function readMargins(db: Knex, by: Dimension, days: number) {
  const report = await readUsage(db, { ...(await lastDays(db, days)), by: [by] });
  return report?.rows.map(({ of, jobs, withoutCost, chargedMicros, correctedMicros, known }) => ({
    ...{ name: of[by], jobs, withoutCost, known },
    revenueMicros: chargedMicros - correctedMicros,
  }));
}

test('each job is kept with its cost, and margins are summed by channel, model and account', async () => {
  expect(await costOf(await aTask(byTokens, 4_000_000))).toBe(3_267_000);
  // More was charged than was held.
  expect(await costOf(await aTask(byJob, 5_500_000))).toBe(2_000_000);
  // The provider bills a video even if its task failed, for example because no copy could be stored.
  expect(await costOf(await aTask(byJob, null))).toBe(2_000_000);
  expect(
    await costOf(await aTask(byJob, null, { status: 'failed', result: undefined })),
  ).toBeNull();
  expect(await costOf(await aTask(unknown, 3_000_000))).toBeNull();

  expect(await readMargins(database.db, 'channel', 1)).toEqual([
    { name: 'ark', jobs: 1, withoutCost: 0, ...sums(4_000_000, 3_267_000) },
    { name: 'kling', jobs: 2, withoutCost: 0, ...sums(5_500_000, 4_000_000) },
    { name: 'own', jobs: 1, withoutCost: 1, revenueMicros: 3_000_000, known: null },
  ]);
  const { json } = await admin('margins --by account --json');
  expect(json).toEqual([
    {
      ...{ name: 'acct', jobs: 4, withoutCost: 1 },
      ...{ charged: '12.500000', corrected: '0.000000' },
      ...{ cost: '7.267000', margin: '2.233000', percent: 24 },
    },
  ]);
  const { out } = await admin('margins');
  expect(out).toMatch(/own +1 +1 +3\.000000 +0\.000000 +- +- +-/);
  expect((await admin('margins --by model --json')).json[0].name).toBe('studio-2.0');
});

test('a model at a channel has its own cost, although the plan names the channel twice', async () => {
  const dearer = { ...byJob, upstreamModel: 'slow', cost: { microsPerJob: 3_000_000 } };
  expect(await costOf(await aTask(dearer, null, {}, [byJob]))).toBe(3_000_000);
});

test('the cost of super-resolution is kept with its job, beside what it was charged', async () => {
  const { db } = database;
  const taskId = aTaskId();
  const opening = anOpening('acct', taskId, held);
  const enhancement = {
    ...{ channels: ['mediakit'], costs: { mediakit: { microsPerMinute: 1_200_001 } } },
    ...({ resolution: '1080p', resolutionLimit: null, scene: null } as const),
    ...({ toolVersion: 'standard', fps: null } as const),
  };
  const plan = aPlan({ hold: opening.plan.hold, channels: [byJob], enhancement });
  await openNew(db, { ...opening, plan });
  const ends = async (kind: JobKind, channel: string) => {
    await db.raw(
      `update jobs set state = 'open', channel = ?, upstream_model = 'm', upstream_id = ?,
              opened_at = now() where task_id = ? and kind = ?`,
      [channel, `up-${kind}-${taskId}`, taskId, kind],
    );
    const { result } = aSuccess();
    const job = { kind, channel, upstreamModel: 'm' };
    const report = { ...aSuccess(), ...job, result: { ...result!, durationSeconds: 5 } };
    await storeReports(db, [{ taskId, kind, report }]);
  };
  await ends('generation', 'kling');
  await ends('super_resolution', 'mediakit');
  const line = (kind: JobKind, amountMicros: number) => ({
    ...{ kind, amountMicros, quantity: 1, unitPriceMicros: 1 },
  });
  const closing = aClosing(taskId, held, 3_000_000);
  const charge = [line('generation', 3_000_000), line('super_resolution', 150_000)];
  await closeTask(db, { ...closing, charge });

  const { json } = await admin(`tasks show ${taskId} --json`);
  expect(json.jobs.map(({ costMicros }: { costMicros: number }) => costMicros)).toEqual([
    2_000_000, 100_001,
  ]);
  expect(await readMargins(db, 'channel', 1)).toContainEqual({
    ...{ name: 'mediakit', jobs: 1, withoutCost: 0 },
    ...sums(150_000, 100_001),
  });
});

test('a task that ended before the period is not counted', async () => {
  const { db } = database;
  await changeMovements(db, `set created_at = created_at - interval '3 days'`);
  expect(await readMargins(db, 'channel', 2)).toEqual([]);
});

test('a margin counts the corrections of its tasks', async () => {
  const { db } = database;
  const choice = { ...byJob, channel: 'corrected' };
  const taskId = await aTask(choice, 4_000_000);
  const failed = await aTask({ ...choice, channel: 'failed' }, null);
  const correction = { accountId: 'acct', kind: 'correction', reason: 'flickers' } as const;
  for (const [task, amountMicros] of [
    [taskId, 1_500_000],
    [taskId, -250_000],
    [failed, 100_000],
  ] as const) {
    const reference = `${task} ${amountMicros}`;
    await creditAccount(db, { ...correction, taskId: task, amountMicros, reference });
  }
  const margins = await readMargins(db, 'channel', 1);
  expect(margins).toContainEqual({
    ...{ name: 'corrected', jobs: 1, withoutCost: 0 },
    ...sums(2_750_000, 2_000_000),
  });
  expect(margins).toContainEqual({
    ...{ name: 'failed', jobs: 1, withoutCost: 0 },
    ...sums(-100_000, 2_000_000),
  });
});

test('a report of days that are rolled up reads no task, job or movement of them', async () => {
  const { db } = database;
  for (let task = 0; task < 20; task += 1) await aTask(byJob, 3_000_000);
  await changeMovements(db, `set created_at = created_at - interval '1 day'`);
  const before = await readMargins(db, 'channel', 9);
  await rollUp(db, 'UTC');
  let margins: unknown;
  const read = await db.transaction((trx) =>
    rowsRead(trx, ['tasks', 'jobs'], async () => {
      margins = await readMargins(trx, 'channel', 9);
    }),
  );
  expect(read).toBe(0);
  expect(margins).toEqual(before);
});
