// Customers and their money, as the operator sees and changes them.

import { randomBytes } from 'node:crypto';
import { demand } from '../../config';
import {
  type AccountRow,
  createAccount,
  listAccounts,
  setAccountDisabled,
} from '../../db/accounts';
import { creditAccount } from '../../db/ledger';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext, Answer, Input } from './command-line';
import { amount, fields, table } from './tables';
import { amountOf, choiceOf, knownAccount, nameOf } from './values';

const create: AdminCommand = {
  name: 'accounts create',
  operands: [],
  options: {
    name: { value: 'NAME', about: 'who the customer is', required: true },
    credit: { value: 'AMOUNT', about: 'an opening credit, such as 100.00' },
  },
  about: 'a new customer with books, a first key and a webhook secret, which are shown once',
  async run({ config, db }, input) {
    const { apiKeyPepper } = demand(config, ['API_KEY_PEPPER']);
    const credit = input.option('credit');
    const { accountId, apiKey, webhookSecret } = await createAccount(db(), {
      name: nameOf(input.option('name') ?? '', 'name'),
      pepper: apiKeyPepper,
      currency: config.currency,
      ...(credit === undefined ? {} : { creditMicros: amountOf(credit, config.currency) }),
    });
    const data = { accountId, apiKey, webhookSecret };
    return { data, text: `${fields(data)}\n\nKey and secret are not shown again.` };
  },
};

const list: AdminCommand = {
  name: 'accounts list',
  operands: [],
  options: {},
  about: 'all customers with what they have',
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
  options: {},
  about: 'one customer with what it has',
  run: (context, input) => shown(context, input.operand('ID')),
};

const credit: AdminCommand = {
  name: 'accounts credit',
  operands: ['ID', 'AMOUNT'],
  options: {
    reference: { value: 'R', about: 'your own number; the same one is recorded once' },
    reason: { value: 'TEXT', about: 'what the customer reads in its statement' },
  },
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

const disable: AdminCommand = {
  name: 'accounts disable',
  operands: ['ID'],
  options: {},
  about: 'its keys are refused from now on; tasks under way end as they would',
  run: (context, input) => setDisabled(context, input, true),
};

const enable: AdminCommand = {
  name: 'accounts enable',
  operands: ['ID'],
  options: {},
  about: 'its keys work again',
  run: (context, input) => setDisabled(context, input, false),
};

export const accountCommands = [create, list, show, credit, correct, disable, enable];

async function setDisabled(
  context: AdminContext,
  input: Input,
  disabled: boolean,
): Promise<Answer> {
  const accountId = input.operand('ID');
  if (!(await setAccountDisabled(context.db(), accountId, disabled))) {
    throw new CommandError(`There is no account ${accountId}.`);
  }
  return shown(context, accountId);
}

async function shown({ db }: AdminContext, accountId: string): Promise<Answer> {
  const account = shownAccount(await knownAccount(db(), accountId));
  return { data: account, text: fields(account) };
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
});

const moneyOf = ({ available, held, currency }: ReturnType<typeof shownAccount>) => ({
  available,
  held,
  currency,
});

/** The books keep no balance that a number could not hold exactly. */
function beyondRange(error: unknown): never {
  if ((error as { code?: unknown }).code !== '23514') throw error;
  throw new CommandError('The balance would be larger than the books can hold; nothing was moved.');
}
