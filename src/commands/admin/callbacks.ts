// Admin commands that list callbacks, show their attempts, and send callbacks again.

import type { Knex } from 'knex';
import {
  beginResend,
  beginResends,
  findCallback,
  listAttempts,
} from '../../callbacks/callbacks.rows';
import {
  type ChangedCallback,
  countWithoutReceiver,
  cursorOf,
  listCallbacks,
  listExhausted,
  readCursor,
} from '../../callbacks/list.rows';
import { lacksWebhook } from '../../callbacks/receiver.rows';
import { callbackStates } from '../../contract/vocabulary';
import { includes } from '../../operators/roles.rules';
import { isFinal } from '../../tasks/task.rules';
import { findTask } from '../../tasks/tasks.rows';
import { CommandError, notFound } from '../command';
import type { AdminCommand, Input } from './command-line';
import { fields, table } from './tables';
import {
  accountIdOf,
  choiceOf,
  countOf,
  knownAccount,
  momentOf,
  pageOf,
  pageOptions,
  withNames,
} from './values';
import { shownTo } from './webhooks';

// The database has an index of these for all accounts together. It has none of the delivered ones.
const undelivered = callbackStates.filter((state) => state !== 'delivered');

const list: AdminCommand = {
  name: 'callbacks list',
  http: {
    at: 'GET /callbacks',
    role: 'viewer',
    csv: {
      columns: [
        'taskId',
        'accountId',
        'state',
        'deliveries',
        'nextAt',
        'changedAt',
        'url',
        'accountName',
      ],
    },
  },
  options: {
    state: { value: 'STATE', about: `those in this state only: ${callbackStates.join(', ')}` },
    account: {
      value: 'ID',
      about: 'those of this account only; needed unless STATE is an undelivered one',
    },
    ...pageOptions,
  },
  about: 'callbacks with their state, the last changed first',
  async run({ db, role }, input) {
    const state = choiceOf(input, 'state', callbackStates);
    const limit = countOf(input, 'limit', 50, 10_000);
    const accountId = await accountIdOf(db(), input);
    if (accountId === undefined && (state === undefined || state === 'delivered')) {
      const message = `--account must be given, or --state with one of ${undelivered.join(', ')}.`;
      throw new CommandError(message, 2, { param: 'account' });
    }
    const found = await listCallbacks(db(), {
      ...{ after: changedAfter(input), limit: limit + 1 },
      ...(state ? { states: [state] } : {}),
      ...(accountId === undefined ? {} : { accountId }),
    });
    const { rows, ...next } = pageOf(found, limit, cursorOf);
    const shown = rows.map(({ changedMicros: _micros, ...callback }) => shownTo(role, callback));
    const callbacks = await withNames(db(), shown);
    const text = table(callbacks, [
      { title: 'TASK', of: ({ taskId }) => taskId },
      { title: 'ACCOUNT', of: (row) => row.accountId },
      { title: 'NAME', of: (row) => row.accountName },
      { title: 'STATE', of: (row) => row.state },
      { title: 'DELIVERIES', of: ({ deliveries }) => deliveries },
      { title: 'NEXT', of: ({ nextAt }) => nextAt },
      { title: 'CHANGED', of: ({ changedAt }) => changedAt },
      { title: 'ADDRESS', of: ({ url }) => url },
    ]);
    return { data: callbacks, text, ...next };
  },
};

const show: AdminCommand = {
  name: 'callbacks show',
  http: { at: 'GET /callbacks/:TASK', role: 'viewer' },
  operands: ['TASK'],
  about: "every attempt at a task's callback",
  async run({ db, role }, input) {
    const taskId = input.operand('TASK');
    const found = await findCallback(db(), taskId);
    if (!found) throw notFound(await whyNone(db(), taskId));
    const callback = shownTo(role, found);
    const mayReadReplies = includes(role, 'operator');
    const attempts = (await listAttempts(db(), taskId)).map(({ reply, ...attempt }) =>
      mayReadReplies ? { ...attempt, reply } : attempt,
    );
    const rows = table(attempts, [
      { title: 'DELIVERY', of: ({ delivery }) => delivery },
      { title: 'ATTEMPT', of: ({ attempt }) => attempt },
      { title: 'AT', of: ({ at }) => at },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'MS', of: ({ latencyMs }) => latencyMs },
      { title: 'ERROR', of: ({ error }) => error },
      { title: 'REPLY', of: (row) => ('reply' in row ? row.reply?.slice(0, 60) : null) },
    ]);
    const text = `${fields({ ...callback })}\n\n${rows}`;
    return { data: { ...callback, attempts }, text };
  },
};

/**
 * Begins a new delivery of the same message, which a worker starts. The webhook-id stays the same, so
 * that the receiver recognises the repetition.
 */
const resend: AdminCommand = {
  name: 'callbacks resend',
  http: { at: 'POST /callbacks/:TASK/resend', role: 'operator' },
  operands: ['TASK'],
  changes: (input) => ({ kind: 'task', id: input.operand('TASK') }),
  about: 'sends the same message once more',
  async run({ db }, input) {
    const taskId = input.operand('TASK');
    const callback = await findCallback(db(), taskId);
    if (!callback) throw notFound(await whyNone(db(), taskId));
    if (callback.url === '') throw new CommandError(`The content of ${taskId} was erased.`);
    const delivery = await beginResend(db(), taskId);
    if (delivery === null) {
      const none = `The webhook of ${taskId} was deleted, and no other one of the account takes its state.`;
      throw new CommandError(
        (await lacksWebhook(db(), taskId)) ? none : await whyNone(db(), taskId),
      );
    }
    const task = await findTask(db(), taskId);
    const data = { taskId, delivery, webhookId: `${taskId}:${task?.status}` };
    const text =
      `The callback of ${taskId} is sent again, with the same webhook-id ${data.webhookId}.\n` +
      `See its attempts with: callbacks show ${taskId} (delivery ${delivery}).`;
    return { data, text, effect: `delivery ${delivery} begins` };
  },
};

// A receiver that was down for a day missed as many at most. A command that has more is repeated.
const resendsMax = 1_000;

const resendFailed: AdminCommand = {
  name: 'callbacks resend-failed',
  http: { at: 'POST /accounts/:account/callbacks/resend', role: 'operator', asksWhy: true },
  options: {
    account: { value: 'ID', about: 'whose callbacks', required: true },
    since: { value: 'DATE', about: 'given up since then: 2027-01-31 or a moment', required: true },
  },
  changes: (input) => ({ kind: 'account', id: input.option('account') ?? '' }),
  about: `sends all callbacks again that were given up, the earliest ${resendsMax} of them`,
  async run({ db }, input) {
    const since = momentOf(input.option('since') ?? '', 'since');
    const { accountId } = await knownAccount(db(), input.option('account') ?? '');
    const found = await listExhausted(db(), { accountId, since, limit: resendsMax + 1 });
    const begun = await beginResends(db(), found.slice(0, resendsMax), { isGivenUp: true });
    const withoutWebhook = await countWithoutReceiver(db(), { accountId, since });
    const data = {
      ...{ accountId, sent: begun.length, withoutWebhook },
      areMore: found.length > resendsMax,
    };
    const effect = `deliveries begin: ${begun.length}; without a webhook: ${withoutWebhook}`;
    const more = data.areMore ? '\nThere are more: run the command again.' : '';
    return { data, text: `${fields(data)}${more}`, effect };
  },
};

export const callbackCommands = [list, show, resend, resendFailed];

function changedAfter(input: Input): ChangedCallback | null {
  const text = input.option('after');
  if (text === undefined) return null;
  const after = readCursor(text);
  if (after) return after;
  throw new CommandError(`--after is the "next" of the page before, not "${text}".`, 2, {
    param: 'after',
  });
}

async function whyNone(db: Knex, taskId: string): Promise<string> {
  const task = await findTask(db, taskId);
  if (!task) return `There is no task ${taskId}.`;
  return isFinal(task.status)
    ? `The task ${taskId} asked for no callback.`
    : `The task ${taskId} is not finished; there is nothing to send yet.`;
}
