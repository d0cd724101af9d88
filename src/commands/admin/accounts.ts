// Admin commands that create customers and show them.

import type { Knex } from 'knex';
import { type AccountRow, isForeignCurrency, listAccounts } from '../../accounts/accounts.rows';
import { listRefusals, refusedCalls } from '../../accounts/refusals.rows';
import { findTerms } from '../../accounts/terms.rows';
import { createAccount, createKeylessAccount } from '../../money/new-account.rows';
import { lastDays, readUsageSlowly } from '../../money/usage.rows';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext, Answer } from './command-line';
import { limitsOf } from './keys';
import { amount, fields, table } from './tables';
import { shownTerms, withAmounts } from './terms';
import { amountOf, countOf, knownAccount, nameOf, pageOf, pageOptions } from './values';

const create: AdminCommand = {
  name: 'accounts create',
  http: { at: 'POST /accounts', role: 'operator', without: ['credit'] },
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
      creditMicros: credit === undefined ? 0 : amountOf(credit, config.currency),
    };
    const limits = await limitsOf(config, input);
    const opening = account.creditMicros
      ? `: available ${amount(0)} → ${amount(account.creditMicros)} ${config.currency}`
      : '';
    if (input.flag('no-key')) {
      if (limits.models || limits.channels) {
        throw new CommandError('--no-key makes no key that --models or --channels could limit.', 2);
      }
      const { accountId, webhookSecret } = await createKeylessAccount(db(), account);
      const data = { accountId, webhookSecret };
      const text = `${fields(data)}\n\nThe secret is not shown again.`;
      return { data, text, created: accountId, effect: `${accountId} without a key${opening}` };
    }
    const created = await createAccount(db(), { ...account, limits });
    const { accountId, keyId, apiKey, webhookSecret } = created;
    const data = { accountId, keyId, apiKey, webhookSecret };
    const text = `${fields(data)}\n\nKey and secret are not shown again.`;
    return { data, text, created: accountId, effect: `${accountId} with ${keyId}${opening}` };
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
  http: {
    at: 'GET /accounts',
    role: 'viewer',
    csv: {
      columns: [
        'accountId',
        'name',
        'available',
        'held',
        'currency',
        'openTasks',
        'charged30Days',
        'refused7Days',
        'createdAt',
        'disabledAt',
        'erasedAt',
      ],
    },
  },
  options: {
    find: { value: 'TEXT', about: 'those whose id begins with it, or whose name has it' },
    low: { about: 'those below zero, or below the limit of their alerts' },
    refused: { about: 'those with refused calls in seven days, the most first' },
    ...pageOptions,
  },
  about:
    'customers with their balances, what they were charged in 30 days and about how many calls were refused in 7, the newest first',
  async run({ db }, input) {
    const limit = countOf(input, 'limit', 50, 10_000);
    const [find, after] = [input.option('find'), input.option('after')];
    const found = await listAccounts(db(), {
      ...{ limit: limit + 1, isLow: input.flag('low'), isRefused: input.flag('refused') },
      ...(find === undefined ? {} : { find }),
      ...(after === undefined ? {} : { after }),
    });
    const { rows, ...next } = pageOf(found, limit, ({ accountId }) => accountId);
    const charged = await chargedOf(db(), rows);
    const ids = rows.map(({ accountId }) => accountId);
    const refused = await refusedCalls(db(), ids);
    const accounts = rows.map((row) => ({
      ...shownAccount(row),
      charged30Days: amount(charged.get(row.accountId) ?? 0),
      refused7Days: refused.get(row.accountId) ?? 0,
    }));
    const text = table(accounts, [
      { title: 'ACCOUNT', of: ({ accountId }) => accountId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'AVAILABLE', of: ({ available }) => available },
      { title: 'HELD', of: ({ held }) => held },
      { title: 'OPEN TASKS', of: ({ openTasks }) => openTasks },
      { title: 'CHARGED 30 D', of: ({ charged30Days }) => charged30Days },
      { title: 'REFUSED 7 D', of: ({ refused7Days }) => refused7Days },
      { title: 'CREATED', of: ({ createdAt }) => createdAt },
      { title: 'DISABLED', of: ({ disabledAt }) => disabledAt },
    ]);
    return { data: accounts, text, ...next };
  },
};

/** What each account was charged in the last thirty days, today included. */
async function chargedOf(
  db: Knex,
  rows: readonly AccountRow[],
): Promise<ReadonlyMap<string, number>> {
  if (rows.length === 0) return new Map();
  const asked = {
    ...(await lastDays(db, 30)),
    by: ['account'] as const,
    accounts: rows.map(({ accountId }) => accountId),
  };
  const report = await readUsageSlowly(db, asked);
  return new Map(report?.rows.map(({ of, chargedMicros }) => [of.account ?? '', chargedMicros]));
}

const show: AdminCommand = {
  name: 'accounts show',
  http: { at: 'GET /accounts/:ID', role: 'viewer' },
  operands: ['ID'],
  about:
    'one customer, by its id or its name if only it has it, with its balance, its terms and its refused calls',
  async run(context, input) {
    const { data, text } = await shownAccountOf(context, input.operand('ID'));
    const refused = await listRefusals(context.db(), data.accountId);
    const rows = table(refused, [
      { title: 'DAY', of: ({ day }) => day },
      { title: 'REFUSED WITH', of: ({ code }) => code },
      { title: 'CALLS, ABOUT', of: ({ calls }) => calls },
    ]);
    return { data: { ...data, refused }, text: refused.length > 0 ? `${text}\n\n${rows}` : text };
  },
};

export const accountCommands = [create, list, show];

export type AccountAnswer = Answer & { readonly data: { readonly accountId: string } };

export async function shownAccountOf(
  { config, db }: AdminContext,
  named: string,
): Promise<AccountAnswer> {
  const account = shownAccount(await knownAccount(db(), named));
  const terms = await findTerms(db(), account.accountId);
  const inForce = terms ? shownTerms(terms, config) : {};
  const own = terms ? withAmounts(terms) : {};
  const data = { ...account, ...own, inForce };
  return { data, text: fields({ ...account, ...own, ...inForce }) };
}

export const shownAccount = (row: AccountRow) => ({
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

export const moneyOf = ({ available, held, currency }: ReturnType<typeof shownAccount>) => ({
  available,
  held,
  currency,
});
