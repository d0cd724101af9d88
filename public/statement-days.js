// Makes lines and days of a statement from its movements: one line for each task and day.

const millionths = (amount) => Math.round(Number(amount) * 1e6);
const charges = ['settle', 'extra_charge'];

/**
 * `rows` are movements, newest first. If `hasMore`, the last day may go on: it has no sum yet, and the
 * task of its last row no line, because some of its movements may be missing. Days begin in `timeZone`.
 */
export function daysOf(rows, hasMore, timeZone) {
  const titlesIn = titlesFor(timeZone);
  const days = [];
  const cut = hasMore ? rows.at(-1) : undefined;
  const ended = new Set();
  for (const row of rows) {
    if (closes(row)) ended.add(row.task_id);
    const titles = titlesIn(new Date(row.at * 1000));
    if (days.at(-1)?.day !== titles.day) days.push({ ...titles, lines: new Map() });
    const { lines } = days.at(-1);
    const key = row.task_id ?? `number ${row.number}`;
    // The line of a task that ended on a later day stands there.
    if (row.kind === 'hold' && ended.has(key) && !lines.has(key)) continue;
    const line = lines.get(key) ?? { key, at: row.at, taskId: row.task_id, rows: [] };
    line.rows.push(row);
    lines.set(key, line);
  }
  return withMonths(
    days.map(({ lines, ...day }, at) => {
      const isWhole = !hasMore || at < days.length - 1;
      const shown = [...lines.values()].filter(
        ({ taskId }) => isWhole || taskId === null || taskId !== cut?.task_id,
      );
      const charged = [...lines.values()].flatMap((line) => line.rows).reduce(addCharge, 0);
      return {
        ...day,
        isWhole,
        charged,
        lines: shown.map(({ rows: own, ...line }) => ({ ...line, ...totalOf(own) })),
      };
    }),
  );
}

/** The first day of each month gets what the month was charged; null while days of it are missing. */
function withMonths(all) {
  // A day has no line if its only tasks ended on a later day.
  const days = all.filter(({ lines, isWhole }) => lines.length > 0 || !isWhole);
  const months = new Map();
  for (const { monthTitle, charged, isWhole } of days) {
    const { sum, whole } = months.get(monthTitle) ?? { sum: 0, whole: true };
    months.set(monthTitle, { sum: sum + charged, whole: whole && isWhole });
  }
  return days.map((day, at) => {
    if (days[at - 1]?.monthTitle === day.monthTitle) return day;
    const { sum, whole } = months.get(day.monthTitle);
    return { ...day, month: { title: day.monthTitle, charged: whole ? sum : null } };
  });
}

const closes = ({ kind }) => kind === 'refund' || charges.includes(kind);

const addCharge = (sum, { kind, amount }) =>
  charges.includes(kind) ? sum + millionths(amount) : sum;

/** What the movements of a line come to. A hold counts until it is charged or returned. */
function totalOf(rows) {
  const isOver = rows.some(closes);
  const given = rows.filter(({ kind }) => kind === 'credit' || kind === 'correction');
  const changed = given.reduce((sum, { change }) => sum + millionths(change), 0);
  if (given.length === rows.length) return { what: given[0].reason, amount: changed };
  if (!isOver) return { what: 'held', amount: -millionths(rows.at(-1).amount) };
  const charged = rows.reduce(addCharge, 0);
  const what = charged === 0 ? 'failed, returned' : 'charged';
  return { what: changed === 0 ? what : `${what}, corrected`, amount: changed - charged };
}

function titlesFor(timeZone) {
  const inZone = (parts) => new Intl.DateTimeFormat('en-GB', { ...parts, timeZone });
  const day = inZone({ dateStyle: 'short' });
  const title = inZone({ weekday: 'long', day: 'numeric', month: 'long' });
  const month = inZone({ month: 'long', year: 'numeric' });
  return (date) => ({
    day: day.format(date),
    title: title.format(date),
    monthTitle: month.format(date),
  });
}
