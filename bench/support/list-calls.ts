// The calls of the service that read lists, sums or the next work among all stored tasks, and the
// statements of one create. Each is timed by the row `lists`.

import type { Knex } from 'knex';
import { createForgetOld } from '../../activities/reconcile/old-tasks';
import { listAccounts, showAccount } from '../../src/accounts/accounts.rows';
import { listBudgets } from '../../src/accounts/budgets.rows';
import { claimDeliveries } from '../../src/callbacks/callbacks.rows';
import { listCallbacks } from '../../src/callbacks/list.rows';
import { claimDeletions } from '../../src/files/retention.rows';
import { claimCancels } from '../../src/jobs/cancels.rows';
import { claimLapsed } from '../../src/jobs/owed.rows';
import { listChannelStates, listUnwatched } from '../../src/jobs/watchers.rows';
import { closeTask, openTask } from '../../src/money/ledger.rows';
import { statement } from '../../src/money/statement.rows';
import { lastDays, readUsage, type UsageAsked } from '../../src/money/usage.rows';
import { acceptTask } from '../../src/tasks/accept.rows';
import { listTasks } from '../../src/tasks/list.rows';
import { readOpenWork } from '../../src/tasks/open-work.rows';
import { claimStarts } from '../../src/tasks/pending.rows';
import { listOverdue, nextSlice } from '../../src/tasks/reconcile.rows';
import { answerRepeat } from '../../src/tasks/repeated.rows';
import { findTask, findTaskOfJob } from '../../src/tasks/tasks.rows';
import type { ledgerTasks } from './ledger-task';
import { commonModel, largestAccount, rareModel, slimTaskId } from './slim-tasks';
import { stopping } from './stopping';

export type Calls = Readonly<Record<string, () => Promise<unknown>>>;

const page = { accountId: largestAccount, limit: 20 } as const;

/** The lists that a caller can ask for, of the account with the most tasks. */
export function listsOfCallers(db: Knex, tasks: number): Calls {
  const middle = slimTaskId(10 * Math.floor(tasks / 20));
  const oldest = slimTaskId(100);
  const list = (filter: object) => () => listTasks(db, { ...page, ...filter });
  return {
    'list without a filter': list({}),
    'list, oldest first': list({ isOldestFirst: true }),
    'list, a page of a hundred': list({ limit: 100 }),
    'list, a page in the middle': list({ after: middle }),
    'list, the last page': list({ after: oldest }),
    'list of a period': list({
      createdAfter: 1,
      createdBefore: Math.floor(Date.now() / 1000) - 5e7,
    }),
    'list by model': list({ model: commonModel }),
    'list by a rare model': list({ model: rareModel }),
    'list by model, a page in the middle': list({ model: commonModel, after: middle }),
    'list by status': list({ status: 'failed' }),
    'list by status, a page in the middle': list({ status: 'failed', after: middle }),
    'list by model and status': list({ model: commonModel, status: 'succeeded' }),
    'list by a rare model and a status that it never has': list({
      model: rareModel,
      status: 'succeeded',
    }),
    'list of running tasks': list({ status: 'running' }),
    'list of submitted tasks of one model': list({ model: commonModel, status: 'submitted' }),
    'list by a label': list({ labels: { team: 'team-1' } }),
    'list by two labels': list({ labels: { team: 'team-1', order: String(tasks) } }),
    'list by a label and a status': list({ labels: { team: 'team-1' }, status: 'failed' }),
    'GET of a task': () => findTask(db, middle),
    'search for a repeated create': () =>
      answerRepeat(db, {
        accountId: largestAccount,
        keyId: 'key',
        requestHash: 'none',
        repeat: 1,
        withinSeconds: 86_400,
      }),
    'statement, first page': () => statement(db, page),
    'statement, a page in the middle': () =>
      statement(db, { ...page, after: Math.floor(tasks / 8) }),
    'list of callbacks that have not arrived': () =>
      listCallbacks(db, { ...page, states: ['pending', 'exhausted', 'stopped'] }),
    'balance of an account': () => showAccount(db, largestAccount),
  };
}

/** What operators and the metrics read. */
export function listsOfOperators(db: Knex): Calls {
  const list = (filter: object) => () => listTasks(db, { limit: 50, ...filter });
  return {
    'admin tasks list': list({}),
    'admin tasks list --limit 10000': list({ limit: 10_000 }),
    'admin tasks list --status failed': list({ status: 'failed' }),
    'admin tasks list --status running': list({ status: 'running' }),
    'admin tasks list --model, a rare one': list({ model: rareModel }),
    'admin tasks show by an upstream id': () => findTaskOfJob(db, 'upstream-none'),
    'admin accounts list': () => listAccounts(db, { limit: 50 }),
    'admin callbacks list --account': () =>
      listCallbacks(db, { limit: 50, accountId: largestAccount }),
    'admin callbacks list --state exhausted': () =>
      listCallbacks(db, { limit: 50, states: ['exhausted'] }),
    'admin channels': () => listChannelStates(db),
    'counts for the metrics': () => readOpenWork(db),
  };
}

/** Reports of usage. They read a row for each account, key, model and day. */
export function reportsOfUsage(db: Knex): Calls {
  const report = (days: number, asked: Omit<UsageAsked, 'from' | 'to'>) => async () =>
    readUsage(db, { ...(await lastDays(db, days)), ...asked });
  return {
    'admin margins of 30 days': report(30, { by: ['channel'] }),
    'admin usage of 90 days by model': report(90, { by: ['model'] }),
    'usage of 400 days of the largest customer': report(400, {
      by: ['day'],
      account: largestAccount,
    }),
  };
}

/** The searches of one run of the reconciler. */
export function searchesOfReconciler(db: Knex): Calls {
  return {
    'worker: tasks to start': () => claimStarts(db)(16),
    'reconciler: a slice of the open tasks': () => nextSlice(db, 200),
    'reconciler: overdue tasks': () =>
      listOverdue(db, { graceSeconds: 300, madeGraceSeconds: 7_200 }),
    'worker: jobs to cancel': () => claimCancels(db)(8),
    'worker: callbacks to deliver': () => claimDeliveries(db)(16),
    'worker: expired files': () => claimDeletions(db, 200),
    'reconciler: channels without a watcher': () => listUnwatched(db, 60),
    'worker: lapsed placements': () => claimLapsed(db)(16),
    'reconciler: a pass over old tasks': createForgetOldOnce(db),
  };
}

const kept = { tasksKeptDays: 400, filesKeptDays: 30 };
/** A new pass each time, of tasks that are not old enough. */
const createForgetOldOnce = (db: Knex) => async () => {
  const forgotten = await createForgetOld({ db, stopping }, kept)();
  if (forgotten > 0) throw new Error(`${forgotten} tasks were forgotten that are not old.`);
};

/** The three statements of a task of this account. */
export function statementsOfTask(db: Knex, makeTask: ReturnType<typeof ledgerTasks>): Calls {
  let last = 0;
  const options = { queuedTasksMax: 1_000_000 };
  const next = () => {
    last += 1;
    return makeTask(`task_bench_${process.pid}_${last}`, largestAccount);
  };
  const waiting: ReturnType<typeof next>[] = [];
  const open: ReturnType<typeof next>[] = [];
  return {
    'create: accept': async () => {
      const task = next();
      const { outcome } = await acceptTask(db, task.create, options);
      if (outcome !== 'stored') throw new Error(`A create was answered with ${outcome}.`);
      waiting.push(task);
    },
    'create: open': async () => {
      const task = waiting.shift();
      if (task) open.push(task);
      if (task && (await openTask(db, task.open)).outcome !== 'opened')
        throw new Error('A task was not opened.');
    },
    'create: close': async () => {
      const task = open.shift();
      if (task && !(await closeTask(db, task.close)).first)
        throw new Error('A task was not closed.');
    },
  };
}

export function budgetsOf(db: Knex): Calls {
  return { 'budgets of an account': () => listBudgets(db, largestAccount) };
}
