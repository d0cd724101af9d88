// The chart and the table of one report of usage, and the figures as CSV.

import { Bars } from '../bars.js';
import { SaveButton } from '../controls.js';
import { count, exactMillionths, exactMoney, millionths } from '../format.js';
import { html, useState } from '../preact.js';
import { dayAfter, daysOfPeriod, stacksOf } from '../stacks.js';
import { customerOf, Foreign, printable, Table, titled } from './parts.js';

const titles = {
  ...{ day: 'Day', week: 'Week from', month: 'Month' },
  ...{ model: 'Model', account: 'Customer', key: 'Key', channel: 'Channel' },
};
/** What a row says if it has no key or no channel. */
const absent = { key: 'no key', channel: 'no channel' };
const rowsShown = 200;

const nameIn = (row, by) => (by ? row[by] || absent[by] || '–' : 'all');

/** Gives the name of a customer, with its id if another customer of the chart has the same name. */
function customersIn(rows) {
  const names = new Map(rows.map(({ account, accountName }) => [account, accountName]));
  const isShared = (name) => [...names.values()].filter((one) => one === name).length > 1;
  return (id) => {
    const name = names.get(id);
    return printable(isShared(name) ? `${name} (${id})` : (name ?? id));
  };
}

const isMoney = (measure) => ['charged', 'cost', 'margin'].includes(measure);

export function Report({ data, asked, measure, seesCosts, currency, csv }) {
  const { per, by } = asked;
  const value = isMoney(measure) ? (row) => millionths(row[measure] ?? 0) : (row) => row[measure];
  const text = (number) => (isMoney(measure) ? exactMillionths(number, currency) : count(number));
  const stacks = stacksOf(data.rows, {
    ...{ from: firstDay(data.rows, asked), to: asked.to, per },
    ...{ nameOf: (row) => nameIn(row, by), amountOf: value },
  });
  const series = by === 'account' ? stacks.series.map(customersIn(data.rows)) : stacks.series;
  const { withoutCost } = data.total;
  const label = `${titled(measure)} by ${per}${by ? ` and ${titles[by].toLowerCase()}` : ''}`;
  return html`
    <section class="card" aria-label="Chart">
      <h2>${label}, ${asked.from} to ${asked.to}</h2>
      <${Bars} ...${{ label, text, series }} columns=${stacks.columns} />
      ${
        withoutCost > 0 &&
        costly(measure) &&
        html`<p class="notice">
          ${`The cost of ${jobsText(withoutCost)} is not known. ${titled(measure)} is that of all others.`}
        </p>`
      }
      <p class="small">
        The figures are those of now. Days begin at 00:00 ${data.timeZone}. A task counts on the day
        on which it ended.
      </p>
    </section>
    <section class="card" aria-label="Figures">
      <div class="actions">
        <h2>Figures</h2>
        <${SaveButton} name=${`usage-${asked.from}-${asked.to}.csv`} ask=${csv} />
      </div>
      <${Figures} ...${{ data, asked, seesCosts }} />
    </section>
  `;
}

const jobsText = (jobs) => `${count(jobs)} ${jobs === 1 ? 'job' : 'jobs'}`;
const costly = (measure) => measure === 'cost' || measure === 'margin';

/** A chart of everything begins with the first period that has something. */
function firstDay(rows, { range, from, per }) {
  if (range !== 'all') return from;
  const first = rows[0][per];
  return per === 'month' ? `${first}-01` : first;
}

function Figures({ data: { rows, total }, asked, seesCosts }) {
  const { per, by } = asked;
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, rowsShown);
  const tasks = (name) => (row) => tasksLink(row, asked, name);
  return html`
    <div class="wide">
      <${Table} label="Figures" rows=${shown} total=${total} keyOf=${(row) => `${row[per]} ${row[by]}`}
        columns=${[
          [titles[per], (row) => html`<span class="whole">${row[per]}</span>`],
          by === 'account'
            ? [titles.account, ({ account, ...row }) => customerOf({ ...row, accountId: account })]
            : by && [titles[by], (row) => html`<${Foreign} text=${nameIn(row, by)} />`],
          ['Charged', ({ charged }) => exactMoney(charged), true],
          ['Corrected', ({ corrected }) => exactMoney(corrected), true],
          ['Tasks', tasks('tasks'), true],
          ['Failed', tasks('failed'), true],
          ['Seconds', ({ seconds }) => count(seconds), true],
          seesCosts && ['Cost', ({ cost }) => cost && exactMoney(cost), true],
          seesCosts && ['Margin', ({ margin }) => margin && exactMoney(margin), true],
          [
            'Cost not known',
            ({ withoutCost }) => (withoutCost ? jobsText(withoutCost) : null),
            true,
          ],
        ]} />
    </div>
    ${
      shown.length < rows.length &&
      html`<p><button type="button" class="button" onClick=${() => setAll(true)}>
        Show all ${count(rows.length)} rows
      </button></p>`
    }
    <p class="small">
      The links show the tasks that were created in these days (UTC); the figures count those that
      ended.
    </p>
  `;
}

/** Leads to tasks like those that the cell counts. The list of tasks has no channels. */
function tasksLink(row, asked, name) {
  const { filters } = asked;
  const text = count(row[name]);
  const isListed = asked.by !== 'channel' && !filters.channel && row[asked.by] !== '';
  if (text === '0' || !isListed) return text;
  const query = new URLSearchParams({ ...filters, ...periodOf(row[asked.per], asked) });
  if (asked.by && row[asked.by]) query.set(asked.by, row[asked.by]);
  if (name === 'failed') query.set('status', 'failed');
  return html`<a href=${`#/tasks?${query}`}>${text}</a>`;
}

/** The days of a row, or of the total, within those of the report. The last day is left out. */
function periodOf(period, { from, to, per }) {
  const whole = { from, to: dayAfter(to) };
  if (period === undefined) return whole;
  const [first, after] = daysOfPeriod(period, per);
  if (first > from) whole.from = first;
  if (after < whole.to) whole.to = after;
  return whole;
}
