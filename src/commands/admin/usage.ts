// Admin commands about usage: reports, margins, the summary of a customer's month, and the roll-up
// of everything anew. They read the same figures as the calls of customers.

import { accountNames } from '../../accounts/accounts.rows';
import { csvOf } from '../../contract/csv';
import { billingKinds } from '../../contract/vocabulary';
import { slowTransaction } from '../../database/silent-connections';
import { forgetUsage, rollUp } from '../../money/roll-up.rows';
import { summaryCsv, summaryOf } from '../../money/shown-usage';
import { summaryIn } from '../../money/summary.rows';
import {
  type Dimension,
  lastDays,
  readUsageSlowly,
  snapshot,
  type Usage,
  type UsageAsked,
  type UsageReport,
  usageDimensions,
  usageRowsMax,
} from '../../money/usage.rows';
import { dimensionsIn, isMonth, timeDimensions } from '../../money/usage-days.rules';
import { includes } from '../../operators/roles.rules';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext, Input } from './command-line';
import { daysOf, periodOptions } from './period';
import { amount, amountOrNull, fields, percentOf, table } from './tables';
import { accountIdOf, choiceOf, countOf, knownAccount } from './values';

const report: AdminCommand = {
  name: 'usage',
  http: { at: 'GET /usage', role: 'viewer', without: ['csv'], csv: { rows: 'rows' } },
  options: {
    ...periodOptions,
    by: { value: 'NAMES', about: `some of ${usageDimensions.join(', ')}, with commas (day)` },
    account: { value: 'ID', about: 'only this customer' },
    model: { value: 'NAME', about: 'only this model' },
    key: { value: 'KEYID', about: 'only this key' },
    channel: { value: 'NAME', about: 'only this channel' },
    kind: { value: 'KIND', about: 'generation or super_resolution only' },
    csv: { about: 'prints CSV' },
  },
  about: 'what ended in a period: tasks, charges, costs and margins',
  async run({ db, role }, input) {
    const by = byOf(input);
    const asked = {
      ...(await daysOf(db(), input)),
      by,
      account: await accountIdOf(db(), input),
      model: input.option('model'),
      key: input.option('key'),
      channel: input.option('channel'),
      kind: choiceOf(input, 'kind', billingKinds),
    };
    const { zone, rows, total } = await read(db(), asked);
    const ids = by.includes('account') ? rows.map(({ of }) => of.account ?? '') : null;
    const names = ids && (await accountNames(db(), ids));
    const data = rows.map(({ of, ...usage }) => ({
      ...{ ...of, ...shown(usage) },
      ...(names && { accountName: names.get(of.account ?? '') }),
    }));
    const sum = shown(total);
    const head = { from: asked.from, to: asked.to, timeZone: zone };
    const named = (row: Partial<Record<Dimension, string>>) => row;
    const text = input.flag('csv')
      ? printed(csvOf([...by, ...Object.keys(sum), ...(names ? ['accountName'] : [])], data))
      : `${fields(head)}\n\n${table(
          [
            ...data,
            { ...Object.fromEntries(by.map((name, at) => [name, at ? '' : 'total'])), ...sum },
          ],
          [
            ...by.map((name) => ({
              title: name.toUpperCase(),
              of: (row: (typeof data)[number]) => named(row)[name],
            })),
            ...(names ? [{ title: 'NAME', of: accountNameOf }] : []),
            ...columns,
          ],
        )}`;
    const told = includes(role, 'operator')
      ? { rows: data, total: sum }
      : { rows: data.map(withoutCosts), total: withoutCosts(sum) };
    return { data: { ...head, by, ...told }, text };
  },
};

const accountNameOf = (row: { readonly accountName?: string | undefined }) => row.accountName;

/** Costs and margins are for operators. */
function withoutCosts<Row extends Shown>(row: Row) {
  const { cost: _cost, margin: _margin, percent: _percent, lostCost: _lost, ...rest } = row;
  return rest;
}

const columns = [
  { title: 'TASKS', of: ({ tasks }: Shown) => tasks },
  { title: 'FAILED', of: ({ failed }: Shown) => failed },
  { title: 'SECONDS', of: ({ seconds }: Shown) => seconds },
  { title: 'CHARGED', of: ({ charged }: Shown) => charged },
  { title: 'CORRECTED', of: ({ corrected }: Shown) => corrected },
  { title: 'JOBS', of: ({ jobs }: Shown) => jobs },
  { title: 'WITHOUT COST', of: ({ withoutCost }: Shown) => withoutCost },
  { title: 'COST', of: ({ cost }: Shown) => cost },
  { title: 'MARGIN', of: ({ margin }: Shown) => margin },
  { title: '%', of: ({ percent }: Shown) => percent },
  { title: 'LOST', of: ({ lostCost }: Shown) => lostCost },
];

const marginKeys = ['channel', 'model', 'account'] as const;

const margins: AdminCommand = {
  name: 'margins',
  http: { at: 'GET /margins', role: 'operator' },
  options: {
    by: { value: 'KEY', about: 'channel (default), model or account' },
    days: { value: 'N', about: 'the last N days, with today (30)' },
  },
  about: 'what finished jobs were charged, what they cost upstream, and the margin',
  async run({ db }, input) {
    const by = choiceOf(input, 'by', marginKeys) ?? 'channel';
    const days = countOf(input, 'days', 30, 3_650);
    const { rows } = await read(db(), { ...(await lastDays(db(), days)), by: [by] });
    const data = rows.map(({ of, ...usage }) => {
      const { jobs, withoutCost, charged, corrected, cost, margin, percent } = shown(usage);
      return {
        ...{ name: of[by] ?? '', jobs, withoutCost, charged, corrected, cost, margin, percent },
      };
    });
    const text = table(data, [
      { title: by.toUpperCase(), of: ({ name }) => name },
      { title: 'JOBS', of: ({ jobs }) => jobs },
      { title: 'WITHOUT COST', of: ({ withoutCost }) => withoutCost },
      { title: 'CHARGED', of: ({ charged }) => charged },
      { title: 'CORRECTED', of: ({ corrected }) => corrected },
      { title: 'COST', of: ({ cost }) => cost },
      { title: 'MARGIN', of: ({ margin }) => margin },
      { title: '%', of: ({ percent }) => percent },
    ]);
    return { data, text };
  },
};

const summary: AdminCommand = {
  name: 'accounts summary',
  http: {
    ...{ at: 'GET /accounts/:ID/summary', role: 'viewer', without: ['csv'] },
    csv: { whole: (data) => summaryCsv(data as ReturnType<typeof summaryOf>) },
  },
  operands: ['ID'],
  options: {
    month: { value: 'MONTH', about: 'a month such as 2027-01', required: true },
    csv: { about: 'prints CSV' },
  },
  about: "a customer's month: balances, credits, corrections, and charges by model and key",
  async run({ db }, input) {
    const month = input.option('month') ?? '';
    const { accountId } = await knownAccount(db(), input.operand('ID'));
    const found = isMonth(month)
      ? await slowTransaction(db(), (trx) => summaryIn(trx, accountId, month), snapshot)
      : null;
    if (!found) {
      throw new CommandError(
        `--month is a month such as 2027-01 that has begun, not "${month}".`,
        2,
      );
    }
    const data = summaryOf(month, found);
    const { lines, ...figures } = data;
    const text = input.flag('csv')
      ? printed(summaryCsv(data))
      : `${fields({ accountId, ...figures })}\n\n${table(lines, [
          { title: 'MODEL', of: ({ model }) => model },
          { title: 'KEY', of: ({ key }) => key },
          { title: 'TASKS', of: ({ tasks }) => tasks },
          { title: 'FAILED', of: ({ failed }) => failed },
          { title: 'SECONDS', of: ({ seconds }) => seconds },
          { title: 'CHARGED', of: ({ charged }) => charged },
        ])}`;
    return { data: { account_id: accountId, ...data }, text };
  },
};

const rebuild: AdminCommand = {
  name: 'usage rebuild',
  http: { none: 'it reads every movement' },
  changes: () => ({ kind: 'service' }),
  about:
    'derives all usage anew, in REPORTS_TIME_ZONE; costs of forgotten tasks are then not known',
  async run({ db, config, committed }) {
    await slowTransaction(db(), (trx) => forgetUsage(trx));
    const zone = config.reportsTimeZone;
    const effect = `usage of all days is derived anew, in ${zone}`;
    return {
      ...{ data: { timeZone: zone }, text: effect, effect },
      async afterwards() {
        await rollUp(committed(), zone);
        return {
          data: { timeZone: zone },
          text: `The usage of all days was derived anew, in ${zone}.`,
        };
      },
    };
  },
};

export const usageCommands = [report, margins, summary, rebuild];

/** CSV as a terminal shows it. */
const printed = (csv: string) => csv.replaceAll('\r\n', '\n').trimEnd();

type Db = ReturnType<AdminContext['db']>;

async function read(db: Db, asked: UsageAsked): Promise<UsageReport> {
  const found = await readUsageSlowly(db, asked);
  if (found) return found;
  throw new CommandError(
    `The report has more than ${usageRowsMax} rows; choose fewer days, or fewer names in --by.`,
    2,
  );
}

function byOf(input: Input): readonly Dimension[] {
  const names = dimensionsIn(input.option('by') ?? 'day', usageDimensions);
  if (names) return names;
  throw new CommandError(
    `--by names some of ${usageDimensions.join(', ')}, separated by commas, each once and at most one of ${timeDimensions.join(', ')}.`,
    2,
  );
}

type Shown = ReturnType<typeof shown>;

/** Cost and margin are those of the jobs whose cost is known. */
function shown({ chargedMicros, correctedMicros, lostCostMicros, known, ...counts }: Usage) {
  const cost = known?.costMicros ?? null;
  return {
    ...counts,
    charged: amount(chargedMicros),
    corrected: amount(correctedMicros),
    cost: amountOrNull(cost),
    margin: known ? amount(known.revenueMicros - (cost ?? 0)) : null,
    percent: known && cost !== null ? percentOf(known.revenueMicros, cost) : null,
    lostCost: amount(lostCostMicros),
  };
}
