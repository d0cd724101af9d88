// Makes the bars of a chart from the rows of a report of usage: one bar a period, with the largest
// series on their own and all others together. A period without a row is an empty bar.

const seriesMax = 7;

/**
 * `per` is `day`, `week` or `month`, the name of the period in a row. `nameOf` gives the series of a
 * row, and `amountOf` its value, a whole number.
 */
export function stacksOf(rows, { from, to, per, nameOf, amountOf }) {
  const sums = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    sums.set(name, (sums.get(name) ?? 0) + amountOf(row));
  }
  const bySize = [...sums].sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
  const own = bySize.slice(0, seriesMax).map(([name]) => name);
  const series = bySize.length > seriesMax ? [...own, 'others'] : own;
  const columns = periodsOf(from, to, per).map((name) => ({
    name,
    values: series.map(() => 0),
  }));
  const byName = new Map(columns.map((column) => [column.name, column]));
  for (const row of rows) {
    const at = own.indexOf(nameOf(row));
    const column = byName.get(row[per]);
    if (column) column.values[at < 0 ? own.length : at] += amountOf(row);
  }
  return { columns, series };
}

/** The first day of each week is a Monday, as in the reports. */
function periodsOf(from, to, per) {
  const periods = [];
  const day = new Date(`${from}T00:00:00Z`);
  if (per === 'week') day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  if (per === 'month') day.setUTCDate(1);
  while (textOf(day) <= to) {
    periods.push(textOf(day).slice(0, per === 'month' ? 7 : 10));
    if (per === 'month') day.setUTCMonth(day.getUTCMonth() + 1);
    else day.setUTCDate(day.getUTCDate() + (per === 'week' ? 7 : 1));
  }
  return periods;
}

/** The shortest period that makes at most `barsMax` bars, and not a shorter one than was chosen. */
export function periodFor(from, to, chosen) {
  const all = ['day', 'week', 'month'];
  const wide = all.slice(all.indexOf(chosen));
  return wide.find((per) => periodsOf(from, to, per).length <= barsMax) ?? 'month';
}

const barsMax = 100;

/** The first day of a period, and the day after its last one. */
export function daysOfPeriod(period, per) {
  if (per !== 'month') return [period, daysBefore(period, per === 'week' ? -7 : -1)];
  const first = `${period}-01`;
  return [first, `${daysBefore(first, -31).slice(0, 8)}01`];
}

export const dayAfter = (day) => daysBefore(day, -1);

export function daysBefore(day, count) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - count);
  return textOf(date);
}

/** The day that it is then in this time zone. */
export const dayIn = (timeZone, moment = new Date()) =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(moment);

const textOf = (date) => date.toISOString().slice(0, 10);
