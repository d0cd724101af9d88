// Statements about one task read only the rows of this task, however many other tasks wait. The
// statistics of the tables are from a time when nothing waited, as after a quiet night.

import { stopDelivery } from '../../src/callbacks/callbacks.rows';
import { storeMissing } from '../../src/jobs/missing.rows';
import { beginPlacing, endTurn, renewPlacing, tellSoon } from '../../src/jobs/owed.rows';
import { takeBackTurns, takeSlot } from '../../src/jobs/slots.rows';
import {
  closeReported,
  forgetSending,
  storeOpened,
  storeReports,
  waitForTurn,
} from '../../src/jobs/steps.rows';
import { closeTask, openTask } from '../../src/money/ledger.rows';
import { failPending, releaseStart, startLater } from '../../src/tasks/pending.rows';
import { endRepeats } from '../../src/tasks/repeated.rows';
import { aClosing, anAccountWith, anOpening, storePending } from '../support/books';
import { aJobInput, aSuccess, aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';

const others = 3_000;
const account = 'acct_test';
const kind = 'generation' as const;

let database: TestDatabase;
beforeAll(async () => {
  // One connection, so that its statistics can be flushed and its statements get their final plans.
  database = await createTestDatabase(1);
  const { db } = database;
  await anAccountWith(db, account, 10 ** 12);
  const tables = ['tasks', 'jobs', 'callbacks'];
  for (const table of tables) {
    await db.raw(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  await storeOthers('ended', false, 'closed', 'delivered');
  for (const table of tables) await db.raw(`analyze ${table}`);
  await storeOthers('pending', true, null, null);
  for (const state of ['planned', 'waiting', 'sending', 'open', 'reported']) {
    await storeOthers(state, false, state, state === 'open' ? 'pending' : null);
  }
});
afterAll(() => database?.drop());

const owed: Readonly<Record<string, string>> = {
  planned: 'place',
  sending: 'place',
  waiting: 'turn',
  reported: 'tell',
};

async function storeOthers(
  name: string,
  starts: boolean,
  job: string | null,
  callback: string | null,
): Promise<void> {
  const { db } = database;
  const ended = name === 'ended' ? `json_build_object('status', 'succeeded'), now()` : 'null, null';
  await db.raw(
    `insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, owes, due_at,
                        deadline_at, object, finished_at)
     select '${name}_' || n, '${account}', 'm', '{}', '{}', 'h', 't', ${starts ? "'start', now()" : 'null, null'}, now() + interval '1 hour', ${ended}
       from generate_series(1, ${others}) n`,
  );
  if (job) {
    const owes = owed[job] ?? null;
    await db.raw(
      `insert into jobs (task_id, kind, account_id, state, channel, channels, owes, due_at)
       select '${name}_' || n, '${kind}', '${account}', '${job}', 'studio', array['studio'],
              ${owes === null ? 'null, null' : `'${owes}', now()`}
         from generate_series(1, ${others}) n`,
    );
  }
  if (callback) {
    await db.raw(
      `insert into callbacks (task_id, account_id, url, state, next_at)
       select '${name}_' || n, '${account}', 'u', '${callback}', now()
         from generate_series(1, ${others}) n`,
    );
  }
}

/** The rows and index entries that this database has read so far. */
async function entriesRead(): Promise<number> {
  const { db } = database;
  await db.raw('select pg_stat_force_next_flush()');
  const { rows } = await db.raw<{ rows: { read: number }[] }>(
    `select (select sum(seq_tup_read) from pg_stat_user_tables)::float8
          + (select sum(idx_tup_read) from pg_stat_user_indexes)::float8 as read`,
  );
  return rows[0]?.read ?? Number.NaN;
}

const hold = 10;
const studio = { channel: 'studio', upstreamModel: 'm' };

async function aPendingTask(): Promise<string> {
  const id = aTaskId();
  await storePending(database.db, anOpening(account, id, hold));
  return id;
}

async function anOpenTask(): Promise<string> {
  const id = await aPendingTask();
  await openTask(database.db, anOpening(account, id, hold));
  return id;
}

async function aRepeatableTask(): Promise<string> {
  const id = await aPendingTask();
  await database.db.raw('update tasks set repeats = 0 where id = ?', [id]);
  return id;
}

/** A task whose job has this state. */
const withJob = (state: string) => async () => {
  const id = await anOpenTask();
  await database.db.raw(
    `update jobs set state = ?, channel = 'studio', attempt = 'first'
      where task_id = ?`,
    [state, id],
  );
  return id;
};

async function withCallback(): Promise<string> {
  const id = await anOpenTask();
  await database.db.raw(
    `insert into callbacks (task_id, account_id, url, next_at) values (?, ?, 'u', now())`,
    [id, account],
  );
  return id;
}

const job = (taskId: string) => aJobInput({ taskId, accountId: account });
const report = aSuccess();

type Statement = (db: TestDatabase['db'], id: string) => Promise<unknown>;
const statements: readonly [string, () => Promise<string>, Statement][] = [
  ['openTask', aPendingTask, (db, id) => openTask(db, anOpening(account, id, hold))],
  ['releaseStart', aPendingTask, (db, id) => releaseStart(db, id, 5)],
  ['startLater', aPendingTask, (db, id) => startLater(db, id)],
  ['failPending', aPendingTask, (db, id) => failPending(db, id, 'stopped')],
  ['endRepeats', aRepeatableTask, (db, id) => endRepeats(db, [id])],
  ['takeSlot', anOpenTask, (db, id) => takeSlot(db, job(id), studio, null, 'first')],
  ['waitForTurn', anOpenTask, (db, id) => waitForTurn(db, job(id), ['studio'])],
  ['takeBackTurns', withJob('waiting'), (db, id) => takeBackTurns(db, [job(id)])],
  ['beginPlacing', withJob('planned'), (db, id) => beginPlacing(db, job(id))],
  ['renewPlacing', withJob('sending'), (db, id) => renewPlacing(db, job(id))],
  ['tellSoon', withJob('reported'), (db, id) => tellSoon(db, [job(id)])],
  ['endTurn', withJob('waiting'), (db, id) => endTurn(db, job(id))],
  ['forgetSending', withJob('sending'), (db, id) => forgetSending(db, job(id), 'first')],
  [
    'storeOpened',
    withJob('sending'),
    (db, id) => storeOpened(db, job(id), { channel: 'studio', upstreamId: id }),
  ],
  ['storeReports', withJob('open'), (db, taskId) => storeReports(db, [{ taskId, kind, report }])],
  ['storeMissing', withJob('open'), (db, id) => storeMissing(db, { missing: [job(id)], back: [] })],
  ['closeReported', withJob('reported'), (db, taskId) => closeReported(db, { taskId, kind })],
  ['closeTask', withJob('reported'), (db, id) => closeTask(db, aClosing(id, hold, 5))],
  ['stopDelivery', withCallback, (db, id) => stopDelivery(db, id, 1)],
];

test.each(statements)('%s reads only the rows of its task', async (_, make, run) => {
  const { db } = database;
  for (let n = 0; n < 8; n += 1) {
    const id = await make();
    const before = await entriesRead();
    await run(db, id);
    expect((await entriesRead()) - before).toBeLessThan(others / 10);
  }
});
