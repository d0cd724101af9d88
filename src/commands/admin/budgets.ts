// Admin commands that set, list and remove budgets of accounts and keys.

import type { Knex } from 'knex';
import { lockAccount } from '../../accounts/accounts.rows';
import type { BudgetState } from '../../accounts/budget.rules';
import { listBudgets, removeBudget, setBudget, setTimeZone } from '../../accounts/budgets.rows';
import { listKeys, withMade } from '../../accounts/keys.rows';
import { budgetPeriods } from '../../contract/vocabulary';
import { CommandError, notFound } from '../command';
import type { AdminCommand, Answer, Input } from './command-line';
import { amount, table } from './tables';
import { amountOf, changedValues, choiceOf, knownAccount } from './values';

const whose = {
  account: { value: 'ID', about: 'whose budget', required: true },
  key: { value: 'KEYID', about: 'of this key only' },
} as const;
const period = {
  value: budgetPeriods.join('|'),
  about: 'what its limit is for; a total never begins anew',
  required: true,
} as const;

const accountChanges = (input: Input) =>
  ({ kind: 'account', id: input.option('account') ?? '' }) as const;

const set: AdminCommand = {
  name: 'budgets set',
  http: { at: 'POST /accounts/:account/budgets', role: 'operator' },
  options: {
    ...whose,
    period,
    limit: { value: 'AMOUNT', about: 'what may be spent in it, such as 100.00', required: true },
    'time-zone': {
      value: 'ZONE',
      about: "where the account's days and months begin, such as Asia/Shanghai; UTC at first",
    },
  },
  changes: accountChanges,
  about: 'limits what is spent, from the next create on',
  async run({ config, db }, input) {
    const limitMicros = amountOf(input.option('limit') ?? '', config.currency);
    const budget = await budgetOf(db(), input);
    await refuseIfShared(db(), budget);
    const before = await valuesOf(db(), budget);
    const zone = input.option('time-zone');
    if (zone !== undefined && !(await setTimeZone(db(), budget.accountId, zone))) {
      throw new CommandError(`There is no time zone "${zone}". One is called Asia/Shanghai.`, 2);
    }
    await setBudget(db(), { ...budget, limitMicros });
    const answer = await standing(db(), budget.accountId);
    return { ...answer, effect: changedValues(before, await valuesOf(db(), budget)) };
  },
};

const list: AdminCommand = {
  name: 'budgets list',
  http: { at: 'GET /accounts/:account/budgets', role: 'viewer' },
  options: { account: { value: 'ID', about: 'whose budgets', required: true } },
  about: 'budgets with what is spent and held of each in its present period',
  async run({ db }, input) {
    const { accountId } = await knownAccount(db(), input.option('account') ?? '');
    return standing(db(), accountId);
  },
};

const remove: AdminCommand = {
  name: 'budgets remove',
  http: { at: 'DELETE /accounts/:account/budgets', role: 'operator' },
  options: { ...whose, period },
  changes: accountChanges,
  about: 'lifts a limit, from the next create on',
  async run({ db }, input) {
    const budget = await budgetOf(db(), input);
    const before = await valuesOf(db(), budget);
    if (!(await removeBudget(db(), budget))) throw notFound('There is no such budget.');
    const effect = changedValues(before, await valuesOf(db(), budget));
    return { ...(await standing(db(), budget.accountId)), effect };
  },
};

export const budgetCommands = [set, list, remove];

type BudgetName = Awaited<ReturnType<typeof budgetOf>>;

async function budgetOf(db: Knex, input: Input) {
  const period = choiceOf(input, 'period', budgetPeriods) ?? 'total';
  const { accountId } = await knownAccount(db, input.option('account') ?? '');
  const keyId = input.option('key') ?? null;
  const keys = await listKeys(db, { accountId });
  if (keyId !== null && !keys.some((key) => key.keyId === keyId)) {
    throw notFound(`The account ${accountId} has no key ${keyId}.`);
  }
  return { accountId, keyId, period };
}

/** A key that a customer made has no budget of its own, so it would spend past that of its maker. */
async function refuseIfShared(db: Knex, { accountId, keyId }: BudgetName): Promise<void> {
  if (keyId === null) return;
  // A key that is made meanwhile would not be counted.
  await lockAccount(db, accountId);
  const [{ made } = { made: 0 }] = await withMade(db, [{ accountId, keyId }]);
  if (made === 0) return;
  throw new CommandError(
    `The key ${keyId} has made ${made} valid keys, which would not share its budget. ` +
      'Set a budget of the account, or revoke them first.',
  );
}

async function valuesOf(db: Knex, { accountId, keyId, period }: BudgetName) {
  const { timeZone } = await knownAccount(db, accountId);
  const budgets = await listBudgets(db, accountId);
  const one = budgets.find((budget) => budget.keyId === keyId && budget.period === period);
  return { limit: one ? amount(one.limitMicros) : null, timeZone };
}

async function standing(db: Knex, accountId: string): Promise<Answer> {
  const data = (await listBudgets(db, accountId)).map(shownBudget);
  const text = table(data, [
    { title: 'ACCOUNT', of: (row) => row.accountId },
    { title: 'KEY', of: (row) => row.keyId ?? 'all' },
    { title: 'PERIOD', of: (row) => row.period },
    { title: 'LIMIT', of: (row) => row.limit },
    { title: 'SPENT', of: (row) => row.spent },
    { title: 'HELD', of: (row) => row.held },
    { title: 'BEGINS ANEW', of: (row) => row.beginsAnewAt },
    { title: 'TIME ZONE', of: (row) => row.timeZone },
  ]);
  return { data, text };
}

function shownBudget({ limitMicros, spentMicros, heldMicros, ...budget }: BudgetState) {
  return {
    ...budget,
    limit: amount(limitMicros),
    spent: amount(spentMicros),
    held: amount(heldMicros),
  };
}
