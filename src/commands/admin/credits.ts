// Admin commands that credit or correct the balance of a customer.

import { randomBytes } from 'node:crypto';
import { creditAccount } from '../../money/ledger.rows';
import { CommandError } from '../command';
import { moneyOf, shownAccount } from './accounts';
import {
  type AdminCommand,
  type AdminContext,
  type Answer,
  changesAccount,
  type Input,
} from './command-line';
import { amount, fields } from './tables';
import { amountOf, choiceOf, knownAccount, nameOf } from './values';

const credit: AdminCommand = {
  name: 'accounts credit',
  http: {
    at: 'POST /accounts/:ID/credits',
    role: 'owner',
    asksWhy: true,
    requires: ['reference', 'reason'],
  },
  operands: ['ID', 'AMOUNT'],
  options: {
    reference: { value: 'R', about: 'your own number; the same one is recorded once' },
    reason: { value: 'TEXT', about: 'what the customer reads in its statement' },
  },
  changes: changesAccount,
  about: 'adds money',
  run(context, input) {
    const reference = input.option('reference') ?? `admin-${randomBytes(8).toString('hex')}`;
    const reason = input.option('reason') ?? 'credit';
    return recorded(context, input, { kind: 'credit', sign: 1, reference, reason });
  },
};

const correct: AdminCommand = {
  name: 'accounts correct',
  http: { at: 'POST /accounts/:ID/corrections', role: 'owner', asksWhy: true },
  operands: ['ID', 'AMOUNT'],
  options: {
    for: { value: 'WHOM', about: 'who was wronged: customer (gets it) or house', required: true },
    reference: { value: 'R', about: 'the case; the same one is recorded once', required: true },
    reason: { value: 'TEXT', about: 'what the customer reads in its statement', required: true },
    task: { value: 'TASK', about: 'the ended task whose bill is corrected' },
  },
  changes: changesAccount,
  about: 'puts a mistake right by a movement of its own, also below zero',
  run(context, input) {
    const sign = choiceOf(input, 'for', ['customer', 'house']) === 'house' ? -1 : 1;
    const reference = input.option('reference') ?? '';
    const reason = input.option('reason') ?? '';
    return recorded(context, input, { kind: 'correction', sign, reference, reason });
  },
};

export const creditCommands = [credit, correct];

interface Asked {
  readonly kind: 'credit' | 'correction';
  readonly sign: 1 | -1;
  readonly reference: string;
  readonly reason: string;
}

async function recorded({ config, db }: AdminContext, input: Input, asked: Asked): Promise<Answer> {
  const { kind, sign } = asked;
  const { currency } = config;
  const amountMicros = sign * amountOf(input.operand('AMOUNT'), currency);
  const reference = nameOf(asked.reference, 'reference');
  const reason = nameOf(asked.reason, 'reason');
  const taskId = input.option('task');
  const { accountId } = await knownAccount(db(), input.operand('ID'));
  const task = taskId === undefined ? {} : { taskId };
  const movement = { accountId, amountMicros, currency, reference, reason, kind, ...task };
  const result = await creditAccount(db(), movement).catch(beyondRange);
  if (result !== 'created' && result !== 'exists') {
    throw new CommandError(`${refusals[result](movement)}; nothing was moved.`);
  }
  const moved = result === 'created';
  const { availableMicros, ...row } = await knownAccount(db(), accountId);
  const money = moneyOf(shownAccount({ availableMicros, ...row }));
  const what = `${amount(Math.abs(amountMicros))} ${currency}`;
  const done = sign > 0 ? `${what} added to ${accountId}` : `${what} taken from ${accountId}`;
  const sentence = moved
    ? `${done} as ${reference}.`
    : `The reference ${reference} was recorded before; nothing was moved.`;
  // The ledger has locked the balance, so nothing else has changed it in between.
  const before = amount(availableMicros - amountMicros);
  const effect = moved
    ? `${amount(amountMicros)} ${currency}: available ${before} → ${amount(availableMicros)}`
    : `nothing was moved: ${reference} was recorded before`;
  const about = { recorded: moved, reference, reason, ...task };
  const data = { accountId, amount: amount(amountMicros), ...about, ...money };
  return { data, text: `${sentence}\n${fields(money)}`, effect };
}

interface Movement {
  readonly accountId: string;
  readonly currency: string;
  readonly reference: string;
  readonly taskId?: string;
}

const refusals = {
  different_currency: ({ currency, accountId }: Movement) =>
    `CURRENCY is ${currency}, but the books of ${accountId} are in another`,
  exists_with_different_amount: ({ reference }: Movement) =>
    `The reference ${reference} was recorded with another amount`,
  exists_with_different_task: ({ reference }: Movement) =>
    `The reference ${reference} was recorded for another task`,
  unknown_task: ({ accountId, taskId }: Movement) =>
    `The account ${accountId} has no task ${taskId}`,
  unfinished_task: ({ taskId }: Movement) => `The task ${taskId} has not ended`,
};

/**
 * The error 23514 means that a check constraint of the ledger failed. This constraint requires that
 * a balance is a safe integer.
 */
function beyondRange(error: unknown): never {
  if ((error as { code?: unknown }).code !== '23514') throw error;
  throw new CommandError('The balance would be larger than the books can hold; nothing was moved.');
}
