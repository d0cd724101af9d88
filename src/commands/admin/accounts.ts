// Admin commands that create customers, show them, and credit or correct their balances.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { findTerms } from '../../db/account-terms';
import {
  type AccountRow,
  createAccount,
  createKeylessAccount,
  isForeignCurrency,
  listAccounts,
} from '../../db/accounts';
import { creditAccount } from '../../db/ledger';
import { CommandError } from '../command';
import {
  type AdminCommand,
  type AdminContext,
  type Answer,
  changesAccount,
  type Input,
} from './command-line';
import { limitsOf } from './keys';
import { amount, fields, table } from './tables';
import { shownTerms } from './terms';
import { amountOf, choiceOf, knownAccount, nameOf } from './values';

const create: AdminCommand = {
  name: 'accounts create',
  options: {
    name: { value: 'NAME', about: 'who the customer is', required: true },
    credit: { value: 'AMOUNT', about: 'an opening credit, such as 100.00' },
    models: { value: 'A,B', about: 'the models its first key may use; all when left out' },
    channels: { value: 'A,B', about: 'the channels its first key may use; all when left out' },
    'no-key': { about: 'makes no first key' },
  },
  changes: () => ({ kind: 'account', id: null }),
  about: 'a new customer with books, a first key and a webhook secret, which are shown once',
  async run({ config, db }, input) {
    const credit = input.option('credit');
    await expectCurrency(db(), config.currency);
    const account = {
      name: nameOf(input.option('name') ?? '', 'name'),
      currency: config.currency,
      ...(credit === undefined ? {} : { creditMicros: amountOf(credit, config.currency) }),
    };
    const limits = await limitsOf(config, input);
    if (input.flag('no-key')) {
      if (limits.models || limits.channels) {
        throw new CommandError('--no-key makes no key that --models or --channels could limit.', 2);
      }
      const { accountId, webhookSecret } = await createKeylessAccount(db(), account);
      const data = { accountId, webhookSecret };
      const text = `${fields(data)}\n\nThe secret is not shown again.`;
      return { data, text, created: accountId };
    }
    const created = await createAccount(db(), { ...account, limits });
    const { accountId, keyId, apiKey, webhookSecret } = created;
    const data = { accountId, keyId, apiKey, webhookSecret };
    const text = `${fields(data)}\n\nKey and secret are not shown again.`;
    return { data, text, created: accountId };
  },
};

/** An account in another currency than the books could pay for no task. */
async function expectCurrency(db: Knex, currency: string): Promise<void> {
  if (!(await isForeignCurrency(db, currency))) return;
  throw new CommandError(
    `CURRENCY is ${currency}, but all books are in another currency; no account was created.`,
    2,
  );
}

const list: AdminCommand = {
  name: 'accounts list',
  about: 'all customers with their balances',
  async run({ db }) {
    const accounts = (await listAccounts(db())).map(shownAccount);
    const text = table(accounts, [
      { title: 'ACCOUNT', of: ({ accountId }) => accountId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'AVAILABLE', of: ({ available }) => available },
      { title: 'HELD', of: ({ held }) => held },
      { title: 'OPEN TASKS', of: ({ openTasks }) => openTasks },
      { title: 'CREATED', of: ({ createdAt }) => createdAt },
      { title: 'DISABLED', of: ({ disabledAt }) => disabledAt },
    ]);
    return { data: accounts, text };
  },
};

const show: AdminCommand = {
  name: 'accounts show',
  operands: ['ID'],
  about: 'one customer with its balance and its terms',
  run: (context, input) => shownAccountOf(context, input.operand('ID')),
};

const credit: AdminCommand = {
  name: 'accounts credit',
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
  operands: ['ID', 'AMOUNT'],
  options: {
    for: { value: 'WHOM', about: 'who was wronged: customer (gets it) or house', required: true },
    reference: { value: 'R', about: 'the case; the same one is recorded once', required: true },
    reason: { value: 'TEXT', about: 'what the customer reads in its statement', required: true },
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

interface Asked {
  readonly kind: 'credit' | 'correction';
  readonly sign: 1 | -1;
  readonly reference: string;
  readonly reason: string;
}

async function recorded({ config, db }: AdminContext, input: Input, asked: Asked): Promise<Answer> {
  const { kind, sign } = asked;
  const { currency } = config;
  const accountId = input.operand('ID');
  const amountMicros = sign * amountOf(input.operand('AMOUNT'), currency);
  const reference = nameOf(asked.reference, 'reference');
  const reason = nameOf(asked.reason, 'reason');
  await knownAccount(db(), accountId);
  const movement = { accountId, amountMicros, currency, reference, reason, kind };
  const result = await creditAccount(db(), movement).catch(beyondRange);
  if (result === 'different_currency') {
    throw new CommandError(
      `CURRENCY is ${currency}, but the books of ${accountId} are in another; nothing was moved.`,
    );
  }
  if (result === 'exists_with_different_amount') {
    throw new CommandError(
      `The reference ${reference} was recorded with another amount; nothing was moved.`,
    );
  }
  const account = shownAccount(await knownAccount(db(), accountId));
  const what = `${amount(Math.abs(amountMicros))} ${currency}`;
  const done = sign > 0 ? `${what} added to ${accountId}` : `${what} taken from ${accountId}`;
  const sentence =
    result === 'created'
      ? `${done} as ${reference}.`
      : `The reference ${reference} was recorded before; nothing was moved.`;
  const data = {
    accountId,
    amount: amount(amountMicros),
    recorded: result === 'created',
    reference,
    reason,
    ...moneyOf(account),
  };
  return { data, text: `${sentence}\n${fields(moneyOf(account))}` };
}

export const accountCommands = [create, list, show, credit, correct];

export async function shownAccountOf(
  { config, db }: AdminContext,
  accountId: string,
): Promise<Answer> {
  const account = shownAccount(await knownAccount(db(), accountId));
  const terms = await findTerms(db(), accountId);
  const data = { ...account, ...terms };
  return { data, text: fields({ ...data, ...(terms ? shownTerms(terms, config) : {}) }) };
}

const shownAccount = (row: AccountRow) => ({
  accountId: row.accountId,
  name: row.name,
  available: amount(row.availableMicros),
  held: amount(row.heldMicros),
  currency: row.currency,
  openTasks: row.openTasks,
  createdAt: row.createdAt,
  disabledAt: row.disabledAt,
  erasedAt: row.erasedAt,
});

const moneyOf = ({ available, held, currency }: ReturnType<typeof shownAccount>) => ({
  available,
  held,
  currency,
});

/**
 * The error 23514 means that a check constraint of the ledger failed. This constraint requires that
 * a balance is a safe integer.
 */
function beyondRange(error: unknown): never {
  if ((error as { code?: unknown }).code !== '23514') throw error;
  throw new CommandError('The balance would be larger than the books can hold; nothing was moved.');
}
