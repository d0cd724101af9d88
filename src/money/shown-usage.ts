// Usage and summaries as customers see them, in the names of the API.

import { formatMicros } from '../accounts/amount.rules';
import { csvOf } from '../contract/csv';
import type { MonthSummary } from './summary.rows';
import type { Usage, UsageRow } from './usage.rows';

/** The figures that a customer sees: without channels and costs. */
export function totalOf(usage: Usage) {
  const { tasks, failed, seconds } = usage;
  const charged = formatMicros(usage.chargedMicros);
  return { tasks, failed, seconds, charged, corrected: formatMicros(usage.correctedMicros) };
}

export const rowOf = (row: UsageRow) => ({ ...row.of, ...totalOf(row) });

export function summaryOf(month: string, summary: MonthSummary) {
  return {
    month,
    time_zone: summary.zone,
    complete: summary.isOver,
    currency: summary.currency,
    opening_balance: formatMicros(summary.openingMicros),
    credits: formatMicros(summary.creditedMicros),
    corrections: formatMicros(summary.correctedMicros),
    charged: formatMicros(summary.usage.total.chargedMicros),
    closing_balance: formatMicros(summary.closingMicros),
    lines: summary.usage.rows
      // A line that has only a correction is in the corrections.
      .filter(({ tasks, chargedMicros }) => tasks > 0 || chargedMicros > 0)
      .map((row) => {
        const { corrected: _, ...figures } = totalOf(row);
        return { model: row.of.model ?? '', key: row.of.key ?? '', ...figures };
      }),
  };
}

/** The lines, and the figures of the month as lines of their own. */
export function summaryCsv(summary: ReturnType<typeof summaryOf>): string {
  const { month, currency, lines, opening_balance, credits, corrections, closing_balance } =
    summary;
  const figure = (line: string, amount: string) => ({ line, amount });
  const rows = [
    figure('opening balance', opening_balance),
    figure('credits', credits),
    figure('corrections', corrections),
    ...lines.map(({ charged, ...line }) => ({ ...line, line: 'charged', amount: `-${charged}` })),
    figure('closing balance', closing_balance),
  ];
  const columns = [
    'month',
    'line',
    'model',
    'key',
    'tasks',
    'failed',
    'seconds',
    'amount',
    'currency',
  ];
  return csvOf(
    columns,
    rows.map((row) => ({ month, currency, ...row })),
  );
}
