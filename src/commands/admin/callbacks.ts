// What an operator can see and do about callbacks: which did not arrive, what each attempt was
// answered, send one again, give an account a new secret.

import type { Knex } from 'knex';
import { startDelivery } from '../../../activities/callback-sweep';
import { beginResend, findCallback, listAttempts, listCallbacks } from '../../db/callbacks';
import { findTask } from '../../db/tasks';
import { rotateSecret } from '../../db/webhook-secrets';
import { isFinal } from '../../domain/task';
import { CommandError } from '../command';
import type { AdminCommand } from './command-line';
import { fields, table } from './tables';
import { choiceOf, countOf, durationOf, knownAccount } from './values';

const states = ['pending', 'delivered', 'exhausted', 'stopped'] as const;

const list: AdminCommand = {
  name: 'callbacks list',
  operands: [],
  options: {
    state: { value: 'STATE', about: `those in this state only: ${states.join(', ')}` },
    account: { value: 'ID', about: 'those of this account only' },
    limit: { value: 'N', about: 'how many, the last changed first (50)' },
  },
  about: 'how it stands with callbacks',
  async run({ db }, input) {
    const state = choiceOf(input, 'state', states);
    const accountId = input.option('account');
    const limit = countOf(input, 'limit', 50, 10_000);
    if (accountId !== undefined) await knownAccount(db(), accountId);
    const callbacks = await listCallbacks(db(), {
      limit,
      ...(state ? { state } : {}),
      ...(accountId === undefined ? {} : { accountId }),
    });
    const text = table(callbacks, [
      { title: 'TASK', of: ({ taskId }) => taskId },
      { title: 'ACCOUNT', of: (row) => row.accountId },
      { title: 'STATE', of: (row) => row.state },
      { title: 'DELIVERIES', of: ({ deliveries }) => deliveries },
      { title: 'NEXT', of: ({ nextAt }) => nextAt },
      { title: 'CHANGED', of: ({ changedAt }) => changedAt },
      { title: 'ADDRESS', of: ({ url }) => withoutQuery(url) },
    ]);
    return { data: callbacks, text };
  },
};

const show: AdminCommand = {
  name: 'callbacks show',
  operands: ['TASK'],
  options: {},
  about: "every attempt at a task's callback",
  async run({ db }, input) {
    const taskId = input.operand('TASK');
    const callback = await findCallback(db(), taskId);
    if (!callback) throw new CommandError(await whyNone(db(), taskId));
    const attempts = await listAttempts(db(), taskId);
    const { url, ...rest } = callback;
    const rows = table(attempts, [
      { title: 'DELIVERY', of: ({ delivery }) => delivery },
      { title: 'ATTEMPT', of: ({ attempt }) => attempt },
      { title: 'AT', of: ({ at }) => at },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'MS', of: ({ latencyMs }) => latencyMs },
      { title: 'ERROR', of: ({ error }) => error },
      { title: 'REPLY', of: ({ reply }) => reply?.slice(0, 60) },
    ]);
    const text = `${fields({ ...rest, url: withoutQuery(url) })}\n\n${rows}`;
    return { data: { ...callback, attempts }, text };
  },
};

/** A new delivery of the same message: its id stays, so a consumer who has it already will know. */
const resend: AdminCommand = {
  name: 'callbacks resend',
  operands: ['TASK'],
  options: {},
  about: 'sends the same message once more',
  async run({ db, engineClient }, input) {
    const taskId = input.operand('TASK');
    if (!(await findCallback(db(), taskId))) throw new CommandError(await whyNone(db(), taskId));
    // Connected first: a delivery that is promised and then cannot be started would wait for the
    // sweep.
    const engine = await engineClient();
    const delivery = await beginResend(db(), taskId);
    if (delivery === null) throw new CommandError(await whyNone(db(), taskId));
    await startDelivery(engine, { taskId, delivery });
    const task = await findTask(db(), taskId);
    const data = { taskId, delivery, webhookId: `${taskId}:${task?.status}` };
    return { data, text: `Delivery ${delivery} of ${data.webhookId} is on its way.` };
  },
};

/** The new secret is shown this once; the old ones sign beside it until the overlap is over. */
const rotate: AdminCommand = {
  name: 'webhooks rotate',
  operands: ['ACCOUNT'],
  // Thirty days: a rotation that is still going on then has been forgotten, and a leaked secret
  // with it.
  options: { overlap: { value: '24h', about: 'how long the old secrets sign too, up to 30d' } },
  about: 'a new webhook secret, which is shown once',
  async run({ db, now }, input) {
    const overlapMs = durationOf(input.option('overlap') ?? '24h', 'overlap', 30);
    const { accountId } = await knownAccount(db(), input.operand('ACCOUNT'));
    const webhookSecret = await rotateSecret(db(), accountId, overlapMs);
    const oldSecretsSignUntil = new Date(now() + overlapMs);
    const data = { accountId, webhookSecret, oldSecretsSignUntil };
    return { data, text: `${fields(data)}\n\nThe secret is not shown again.` };
  },
};

export const callbackCommands = [list, show, resend, rotate];

/** What follows the question mark may be a consumer's password. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '?…');
}

async function whyNone(db: Knex, taskId: string): Promise<string> {
  const task = await findTask(db, taskId);
  if (!task) return `There is no task ${taskId}.`;
  return isFinal(task.status)
    ? `The task ${taskId} asked for no callback.`
    : `The task ${taskId} is not finished; there is nothing to send yet.`;
}
