// GET of the usage of an account, and of the summary of a month, as JSON or CSV. A caller sees neither
// channels nor costs.

import { showAccount } from '../accounts/accounts.rows';
import { assert } from '../assert';
import { csvOf } from '../contract/csv';
import { show } from '../contract/field';
import { usageNames } from '../contract/usage-schema';
import { type KeyedContext, type KeyedRouter, Refused } from '../gateway/context';
import { type QueryReader, readQuery, refuseUnknown } from '../gateway/paging';
import { queryOf } from '../gateway/query';
import { rowOf, summaryCsv, summaryOf, totalOf } from './shown-usage';
import { readSummary } from './summary.rows';
import { type Days, lastDays, readUsage, usageRowsMax } from './usage.rows';
import {
  daysBetween,
  dimensionsIn,
  firstOf,
  isDay,
  isMonth,
  timeDimensions,
} from './usage-days.rules';

const daysDefault = 30;
const daysMax = 400;
type Name = (typeof usageNames)[number];

export function usageRoutes(router: KeyedRouter): void {
  router.get('/v1/usage', async (ctx) => {
    const { db, caller } = ctx.state;
    const last = await lastDays(db, daysDefault);
    const { by, ...days } = readQuery(queryOf(ctx), (reader) => {
      refuseUnknown(reader, ['from', 'to', 'by']);
      return { ...daysOf(reader, last), by: byOf(reader) };
    });
    const report = await readUsage(db, { ...days, by, account: caller.accountId });
    if (!report) {
      const message = `by: the report has more than ${usageRowsMax} rows; choose fewer days, or fewer names in "by".`;
      throw new Refused({ code: 'invalid_value', param: 'by', message });
    }
    const data = report.rows.map(rowOf);
    if (wantsCsv(ctx)) {
      ctx.body = csvOf([...by, ...Object.keys(totalOf(report.total))], data);
      return;
    }
    const currency = await currencyOf(ctx);
    const total = totalOf(report.total);
    const span = { first_day: days.from, last_day: days.to, time_zone: report.zone };
    ctx.body = { ...span, currency, by, data, total };
  });

  router.get('/v1/account/summaries/:month', async (ctx) => {
    readQuery(queryOf(ctx), (reader) => refuseUnknown(reader, []));
    const { db, caller } = ctx.state;
    const { month = '' } = ctx.params as { month?: string };
    const summary = isMonth(month) ? await readSummary(db, caller.accountId, month) : null;
    if (!summary) {
      const message = `month: must be a month such as 2027-01 that has begun; got ${show(month)}.`;
      throw new Refused({ code: 'invalid_value', param: 'month', message });
    }
    const shown = summaryOf(month, summary);
    ctx.body = wantsCsv(ctx) ? summaryCsv(shown) : shown;
  });
}

function wantsCsv(ctx: KeyedContext): boolean {
  ctx.vary('Accept');
  const isCsv = ctx.accepts('json', 'text/csv') === 'text/csv';
  if (isCsv) ctx.type = 'text/csv';
  return isCsv;
}

async function currencyOf({ state: { db, caller } }: KeyedContext): Promise<string> {
  const account = await showAccount(db, caller.accountId);
  assert(account, 'an account with a key has books');
  return account.currency;
}

function daysOf(reader: QueryReader, last: Days): Days {
  const dayOf = (name: 'from' | 'to') => {
    const text = reader.text(name);
    if (text === null || isDay(text)) return text;
    return reader.fault(name, `must be a day such as 2027-01-31; got ${show(text)}.`);
  };
  const to = dayOf('to') ?? last.to;
  const from = dayOf('from') ?? firstOf(daysDefault, to);
  const count = daysBetween(from, to);
  if (count < 1) reader.fault('from', `must not be after "to"; got ${show(from)}.`);
  if (count > daysMax) reader.fault('from', `must be at most ${daysMax} days before "to".`);
  return { from, to };
}

function byOf(reader: QueryReader): readonly Name[] {
  const names = dimensionsIn(reader.text('by') ?? 'day', usageNames);
  if (names) return names;
  reader.fault(
    'by',
    `must name some of ${usageNames.join(', ')}, separated by commas, each once and at most one of ${timeDimensions.join(', ')}.`,
  );
  return [];
}
