// Admin commands that list and cancel tasks. A cancellation by an operator works like a
// cancellation by the customer.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import type { Labels } from '../../contract/request';
import { taskStatuses } from '../../contract/vocabulary';
import { listTasks, type TaskSet, taskSets } from '../../tasks/list.rows';
import { failPending } from '../../tasks/pending.rows';
import { cancelledMessage, isFinal } from '../../tasks/task.rules';
import { findTaskRow } from '../../tasks/tasks.rows';
import { CommandError, notFound } from '../command';
import type { AdminCommand, Input } from './command-line';
import { shownTask, showTask } from './show-task';
import { table } from './tables';
import { taskContent } from './task-content';
import { accountIdOf, choiceOf, countOf, momentOf, pageOptions, withNames } from './values';

const sets = Object.keys(taskSets) as TaskSet[];

const list: AdminCommand = {
  name: 'tasks list',
  http: {
    at: 'GET /tasks',
    role: 'viewer',
    csv: {
      columns: [
        'taskId',
        'accountId',
        'status',
        'model',
        'traceId',
        'createdAt',
        'deadlineAt',
        'task.error.code',
        'task.billing.held',
        'task.billing.charged',
        'task.billing.refunded',
        'task.billing.currency',
        'accountName',
        'keyId',
      ],
    },
  },
  options: {
    account: { value: 'ID', about: 'those of this account only' },
    status: {
      value: 'STATUS',
      about: `those in this status only: ${taskStatuses.join(', ')}; or those that are ${sets.join(', ')}`,
    },
    model: { value: 'MODEL', about: 'those of this model only' },
    key: { value: 'KEYID', about: 'those that this key created only' },
    error: { value: 'CODE', about: 'failed ones with this code only, such as task_error' },
    label: { value: 'NAME=VALUE', about: 'those of an account with this label only' },
    from: { value: 'DATE', about: 'those created from then on: 2027-01-31 or a moment' },
    to: { value: 'DATE', about: 'those created before' },
    'oldest-first': { about: 'begins with the oldest' },
    ...pageOptions,
  },
  about: 'stored tasks, the newest first',
  async run({ db }, input) {
    const [keyId, errorCode] = [input.option('key'), input.option('error')];
    // The indexes of ended tasks then leave out the succeeded ones.
    const failed = errorCode === undefined ? undefined : 'failed';
    const asked = choiceOf(input, 'status', [...taskStatuses, ...sets]) ?? failed;
    const set = sets.find((one) => one === asked);
    const status = taskStatuses.find((one) => one === asked);
    const limit = countOf(input, 'limit', 50, 10_000);
    const model = input.option('model');
    const accountId = await accountIdOf(db(), input);
    if (input.option('label') !== undefined && accountId === undefined) {
      // The index of labels begins with the account.
      const message = '--account must be given with --label: a label belongs to an account.';
      throw new CommandError(message, 2, { param: 'account' });
    }
    const { rows, next } = await listTasks(db(), {
      limit,
      ...(status ? { status } : {}),
      ...(set ? { set } : {}),
      ...(accountId === undefined ? {} : { accountId }),
      ...(model === undefined ? {} : { model }),
      ...(keyId === undefined ? {} : { keyId }),
      ...(errorCode === undefined ? {} : { errorCode }),
      labels: labelsOf(input),
      createdAfter: secondsOf(input, 'from'),
      createdBefore: secondsOf(input, 'to'),
      isOldestFirst: input.flag('oldest-first'),
      after: input.option('after') ?? null,
    });
    const tasks = await withNames(db(), rows.map(shownTask));
    const text = table(tasks, [
      { title: 'TASK', of: ({ taskId }) => taskId },
      { title: 'ACCOUNT', of: (task) => task.accountId },
      { title: 'NAME', of: (task) => task.accountName },
      { title: 'STATUS', of: (task) => task.status },
      { title: 'MODEL', of: (task) => task.model },
      { title: 'CREATED', of: ({ createdAt }) => createdAt },
      { title: 'DEADLINE', of: ({ deadlineAt }) => deadlineAt },
    ]);
    return { data: tasks, text, ...(next === null ? {} : { next }) };
  },
};

function labelsOf(input: Input): Labels {
  const text = input.option('label');
  if (text === undefined) return {};
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined) return { [name]: value };
  throw new CommandError(`--label is NAME=VALUE, not "${text}".`, 2, { param: 'label' });
}

function secondsOf(input: Input, name: string): number | null {
  const text = input.option(name);
  return text === undefined ? null : momentOf(text, name).getTime() / 1_000;
}

const cancel: AdminCommand = {
  name: 'tasks cancel',
  http: { at: 'POST /tasks/:ID/cancel', role: 'operator', asksWhy: true },
  operands: ['ID'],
  changes: (input) => ({ kind: 'task', id: input.operand('ID') }),
  about: 'ends a task as its customer could; its hold is returned',
  async run({ db, committed, temporal }, input) {
    const taskId = input.operand('ID');
    const row = await findTaskRow(db(), taskId);
    if (!row) throw notFound(`There is no task ${taskId}.`);
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

export const taskCommands = [showTask, taskContent, list, cancel];

async function askWorkflow(db: Knex, temporal: Client, taskId: string): Promise<void> {
  const { cancelTask } =
    require('../../engine/cancel-task') as typeof import('../../engine/cancel-task');
  const outcome = await cancelTask(temporal, taskId);
  if (outcome === 'unavailable') {
    throw new CommandError('Temporal does not answer; try again.', 1, { kind: 'away' });
  }
  if (outcome === 'asked') return;
  const after = await findTaskRow(db, taskId);
  if (after && isFinal(after.status)) throw finished(taskId);
  throw new CommandError(
    `The task ${taskId} has lost its workflow; the reconciler closes it within a few minutes.`,
  );
}

const finished = (taskId: string) =>
  new CommandError(`The task ${taskId} has finished already; it is left as it is.`);
