// The admin command that shows what tasks brought in, and what their jobs cost upstream.

import { type Margin, marginKeys, readMargins } from '../../money/margins.rows';
import type { AdminCommand } from './command-line';
import { amount, table } from './tables';
import { choiceOf, countOf } from './values';

export const margins: AdminCommand = {
  name: 'margins',
  options: {
    by: { value: 'KEY', about: 'channel (default), model or account' },
    days: { value: 'N', about: 'tasks that ended in the last N days (30)' },
  },
  about: 'what finished jobs were charged, what they cost upstream, and the margin',
  async run({ db }, input) {
    const by = choiceOf(input, 'by', marginKeys) ?? 'channel';
    const days = countOf(input, 'days', 30, 3_650);
    const data = (await readMargins(db(), by, days)).map(shown);
    const text = table(data, [
      { title: by.toUpperCase(), of: ({ name }) => name },
      { title: 'JOBS', of: ({ jobs }) => jobs },
      { title: 'WITHOUT COST', of: ({ withoutCost }) => withoutCost },
      { title: 'CHARGED', of: ({ charged }) => charged },
      { title: 'COST', of: ({ cost }) => cost },
      { title: 'MARGIN', of: ({ margin }) => margin },
      { title: '%', of: ({ percent }) => percent },
    ]);
    return { data, text };
  },
};

/** Cost and margin are those of the jobs whose cost is known. */
function shown({ chargedMicros, known, ...row }: Margin) {
  const charged = amount(chargedMicros);
  if (!known) return { ...row, charged, cost: null, margin: null, percent: null };
  const { chargedMicros: paid, costMicros: cost } = known;
  const margin = amount(paid - cost);
  return { ...row, charged, cost: amount(cost), margin, percent: percentOf(paid, cost) };
}

/** The margin as a share of the charge, in whole per cents; null if nothing was charged. */
export function percentOf(charged: number, cost: number): number | null {
  return charged === 0 ? null : Math.round(((charged - cost) / charged) * 100);
}
