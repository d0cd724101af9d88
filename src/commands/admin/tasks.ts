// Admin commands that show, list and cancel tasks. A cancellation by an operator works like a
// cancellation by the customer.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import { findTaskCallback } from '../../callbacks/callbacks.rows';
import type { TaskError, TaskObject } from '../../contract/task';
import { taskStatuses } from '../../contract/vocabulary';
import { findJob, type Job } from '../../jobs/queries.rows';
import { correctionsOf } from '../../money/statement.rows';
import { listTasks } from '../../tasks/list.rows';
import { failPending } from '../../tasks/pending.rows';
import { cancelledMessage, isFinal } from '../../tasks/task.rules';
import { findTaskOfJob, findTaskRow, type TaskRow } from '../../tasks/tasks.rows';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext } from './command-line';
import { amount, fields, table } from './tables';
import { accountIdOf, choiceOf, countOf } from './values';

const show: AdminCommand = {
  name: 'tasks show',
  operands: ['ID'],
  about: 'one task, by its id or that of a job upstream: its object, its jobs, its callback',
  async run(context, input) {
    const named = input.operand('ID');
    const taskId = (await findTaskOfJob(context.db(), named)) ?? named;
    const row = await findTaskRow(context.db(), taskId);
    if (!row) throw new CommandError(`There is no task ${taskId}.`);
    const jobs = await jobsOf(context.db(), taskId);
    const corrections = await shownCorrections(context.db(), taskId);
    const callback = await findTaskCallback(context.db(), taskId);
    const ui = linkTo(context, taskId);
    const data = { ...shownTask(row), callback: callback?.state ?? null, jobs, corrections, ...ui };
    const { jobs: _jobs, corrections: _corrections, task, ...plain } = data;
    const rows = table(jobs, [
      { title: 'JOB', of: ({ kind }) => kind },
      { title: 'CHANNEL', of: ({ channel }) => channel },
      { title: 'MODEL', of: ({ upstreamModel }) => upstreamModel },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'UPSTREAM ID', of: ({ upstreamId }) => upstreamId },
      { title: 'SENT', of: ({ sentAt }) => sentAt },
      { title: 'COST', of: ({ costMicros }) => (costMicros === null ? null : amount(costMicros)) },
      { title: 'FAILURE', of: ({ report }) => report?.failure?.code },
      { title: 'FINDING', of: (job) => findingOf(job, row.status) },
    ]);
    const shown = { ...plain, ...(task.error ? { error: sentenceOf(task.error) } : {}) };
    const corrected = corrections.length > 0 ? [correctionTable(corrections)] : [];
    const parts = [fields(shown), rows, ...corrected, JSON.stringify(task, null, 2)];
    return { data, text: parts.join('\n\n') };
  },
};

const list: AdminCommand = {
  name: 'tasks list',
  options: {
    account: { value: 'ID', about: 'those of this account only' },
    status: { value: 'STATUS', about: `those in this status only: ${taskStatuses.join(', ')}` },
    model: { value: 'MODEL', about: 'those of this model only' },
    limit: { value: 'N', about: 'how many, the newest first (50)' },
  },
  about: 'stored tasks, the newest first',
  async run({ db }, input) {
    const status = choiceOf(input, 'status', taskStatuses);
    const limit = countOf(input, 'limit', 50, 10_000);
    const model = input.option('model');
    const accountId = await accountIdOf(db(), input);
    const { rows } = await listTasks(db(), {
      limit,
      ...(status ? { status } : {}),
      ...(accountId === undefined ? {} : { accountId }),
      ...(model === undefined ? {} : { model }),
    });
    const tasks = rows.map(shownTask);
    const text = table(tasks, [
      { title: 'TASK', of: ({ taskId }) => taskId },
      { title: 'ACCOUNT', of: (task) => task.accountId },
      { title: 'STATUS', of: (task) => task.status },
      { title: 'MODEL', of: (task) => task.model },
      { title: 'CREATED', of: ({ createdAt }) => createdAt },
      { title: 'DEADLINE', of: ({ deadlineAt }) => deadlineAt },
    ]);
    return { data: tasks, text };
  },
};

const cancel: AdminCommand = {
  name: 'tasks cancel',
  operands: ['ID'],
  changes: (input) => ({ kind: 'task', id: input.operand('ID') }),
  about: 'ends a task as its customer could; its hold is returned',
  async run({ db, committed, temporal }, input) {
    const taskId = input.operand('ID');
    const row = await findTaskRow(db(), taskId);
    if (!row) throw new CommandError(`There is no task ${taskId}.`);
    if (isFinal(row.status)) throw finished(taskId);
    const ended =
      row.live?.stage === 'accepted' ? await failPending(db(), taskId, cancelledMessage) : null;
    if (ended) {
      const text = `The pending task ${taskId} is cancelled.`;
      return { data: { taskId, asked: true }, text, effect: 'pending → cancelled' };
    }
    const client = temporal();
    const answer = {
      data: { taskId, asked: true },
      text: `The task ${taskId} is being cancelled.`,
      effect: 'its workflow is asked to cancel it',
    };
    return {
      ...answer,
      async afterwards() {
        await askWorkflow(committed(), client, taskId);
        return answer;
      },
    };
  },
};

export const taskCommands = [show, list, cancel];

async function askWorkflow(db: Knex, temporal: Client, taskId: string): Promise<void> {
  const { cancelTask } =
    require('../../engine/cancel-task') as typeof import('../../engine/cancel-task');
  const outcome = await cancelTask(temporal, taskId);
  if (outcome === 'unavailable') throw new CommandError('Temporal does not answer; try again.');
  if (outcome === 'asked') return;
  const after = await findTaskRow(db, taskId);
  if (after && isFinal(after.status)) throw finished(taskId);
  throw new CommandError(
    `The task ${taskId} has lost its workflow; the reconciler closes it within a few minutes.`,
  );
}

const finished = (taskId: string) =>
  new CommandError(`The task ${taskId} has finished already; it is left as it is.`);

function shownTask(row: TaskRow) {
  const task = JSON.parse(row.object) as Pick<TaskObject, 'model' | 'error'>;
  return {
    taskId: row.id,
    accountId: row.accountId,
    status: row.status,
    model: task.model,
    traceId: row.traceId,
    createdAt: row.createdAt,
    deadlineAt: row.deadlineAt,
    task,
  };
}

const sentenceOf = ({ code, message }: TaskError) => `${code}: ${message}`;

/** A remark on a job that needs the operator's attention; null for every other job. */
function findingOf(
  { missingSince, cancel, state, report }: Job,
  taskStatus: TaskRow['status'],
): string | null {
  if (taskStatus === 'failed' && report?.status === 'succeeded') {
    return 'succeeded, but its task failed: it is at our cost';
  }
  if (cancel === 'given up') return 'cancel given up: it goes on at our cost';
  if (cancel === 'wanted') return 'is to be cancelled';
  return missingSince && state === 'open' ? 'its provider does not know it' : null;
}

async function jobsOf(db: Knex, taskId: string) {
  const kinds = ['generation', 'super_resolution'] as const;
  const found = await Promise.all(kinds.map((kind) => findJob(db, { taskId, kind })));
  return found.filter((job) => job !== null);
}

async function shownCorrections(db: Knex, taskId: string) {
  const corrections = await correctionsOf(db, taskId);
  return corrections.map(({ changeMicros, ...one }) => ({ ...one, amount: amount(changeMicros) }));
}

function correctionTable(rows: Awaited<ReturnType<typeof shownCorrections>>): string {
  return table(rows, [
    { title: 'REFERENCE', of: ({ reference }) => reference },
    { title: 'TO CUSTOMER', of: (row) => row.amount },
    { title: 'REASON', of: ({ reason }) => reason },
    { title: 'AT', of: ({ at }) => at },
  ]);
}

function linkTo({ config }: AdminContext, taskId: string) {
  const { temporalUiUrl, temporalNamespace } = config;
  if (!temporalUiUrl) return {};
  return { temporalUi: `${temporalUiUrl}/namespaces/${temporalNamespace}/workflows/${taskId}` };
}
