// Some statements run every minute or at each scrape. The tests show that these statements do not
// read the rows of ended tasks. PostgreSQL counts the rows that a transaction reads.

import type { Knex } from 'knex';
import { claimDeliveries } from '../../src/callbacks/callbacks.rows';
import { claimDeletions } from '../../src/files/retention.rows';
import { forgetRemovedUploads } from '../../src/files/uploads.rows';
import { readStoredBytes } from '../../src/files/usage.rows';
import { claimCancels } from '../../src/jobs/cancels.rows';
import { claimLapsed, claimTells, claimTurns } from '../../src/jobs/owed.rows';
import { listOpenJobs } from '../../src/jobs/queries.rows';
import { giveTurns } from '../../src/jobs/slots.rows';
import { listChannelsInUse, listUnwatched } from '../../src/jobs/watchers.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { listOldTasks } from '../../src/tasks/old-tasks.rows';
import { readOpenWork } from '../../src/tasks/open-work.rows';
import { claimStarts } from '../../src/tasks/pending.rows';
import { listOverdue, nextSlice } from '../../src/tasks/reconcile.rows';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, rowsRead, type TestDatabase } from '../support/database';

let database: TestDatabase;
let db: Knex;
const ended = 5_000;
const tables = ['tasks', 'jobs', 'callbacks', 'callback_attempts', 'files', 'transfers'];

beforeAll(async () => {
  database = await createTestDatabase(2);
  db = database.db;
  const accountId = await anAccountWith(db, 'acct', 1_000_000);
  const id = aTaskId();
  await openNew(db, anOpening(accountId, id, 100));
  await closeTask(db, aClosing(id, 100, 40));
  await db.raw(
    `insert into tasks (id, account_id, model, object, request, plan, request_hash,
                        trace_id, created_at, deadline_at, finished_at)
     select id || n, account_id, model, object, request, plan, request_hash,
            trace_id, created_at, deadline_at, finished_at
       from tasks, generate_series(1, ?::int) n`,
    [ended],
  );
  await db.raw(`delete from jobs`);
  await db.raw(`
    insert into jobs (task_id, kind, account_id, channel, state, upstream_id, opened_at)
    select id, 'generation', account_id, 'studio', 'closed', id, now() from tasks;
    insert into callbacks (task_id, account_id, url, state)
    select id, account_id, 'https://example.com', 'delivered' from tasks;
    insert into callback_attempts (task_id, delivery, attempt, at)
    select id, 1, 1, now() from tasks;
    insert into files (id, account_id, task_id, role, state, key, link_token, media, expires_at,
                       removed_because, removed_at)
    select id, account_id, id, 'video', 'removed', id, id, 'video', now(), 'expired', now()
      from tasks;
    analyze`);
});
afterAll(() => database?.drop());

test.each<[string, (trx: Knex.Transaction) => Promise<unknown>]>([
  ['the metrics of open work', readOpenWork],
  ['stored bytes', readStoredBytes],
  ['channels in use', listChannelsInUse],
  ['unwatched channels', (trx) => listUnwatched(trx, 60)],
  ['open jobs', (trx) => listOpenJobs(trx, 'studio')],
  ['turns', (trx) => giveTurns(trx, 'studio', null)],
  ['lapsed placements', (trx) => claimLapsed(trx)(100)],
  ['ends to tell', (trx) => claimTells(trx)(100)],
  ['owed turns', (trx) => claimTurns(trx)(100)],
  ['jobs to cancel', (trx) => claimCancels(trx)(100)],
  ['pending tasks', (trx) => claimStarts(trx)(100)],
  ['slice of open tasks', (trx) => nextSlice(trx, 100)],
  ['overdue tasks', (trx) => listOverdue(trx, { graceSeconds: 60, madeGraceSeconds: 60 })],
  ['due callbacks', (trx) => claimDeliveries(trx)(100)],
  ['expired files', (trx) => claimDeletions(trx, 100)],
  ['removed uploads', (trx) => forgetRemovedUploads(trx, 35, 100)],
  ['old tasks', (trx) => listOldTasks(trx, null, { tasksKeptDays: 400, filesKeptDays: 30 }, 200)],
])('the statement for %s reads no rows of ended tasks', async (_, statement) => {
  const read = await db.transaction(async (trx) => {
    return rowsRead(trx, tables, () => statement(trx));
  });
  // The limit is not 0, because the planner reads some rows at the ends of an index.
  expect(read).toBeLessThan(ended / 50);
});
