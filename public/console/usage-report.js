// The chart and the table of one report of usage, and the figures as CSV.

import { Bars } from '../bars.js';
import { count, exactMillionths, exactMoney, millionths } from '../format.js';
import { html, useState } from '../preact.js';
import { stacksOf } from '../stacks.js';
import { Foreign, titled } from './parts.js';

const titles = {
  ...{ day: 'Day', week: 'Week from', month: 'Month' },
  ...{ model: 'Model', account: 'Customer', key: 'Key', channel: 'Channel' },
};
/** What a row says if it has no key or no channel. */
const absent = { key: 'no key', channel: 'no channel' };
const rowsShown = 200;

const nameIn = (row, by) => (by ? row[by] || absent[by] || '–' : 'all');

const isMoney = (measure) => ['charged', 'cost', 'margin'].includes(measure);

export function Report({ data, asked, measure, seesCosts, currency, csv }) {
  const { per, by } = asked;
  const value = isMoney(measure) ? (row) => millionths(row[measure] ?? 0) : (row) => row[measure];
  const text = (number) => (isMoney(measure) ? exactMillionths(number, currency) : count(number));
  const stacks = stacksOf(data.rows, {
    ...{ from: firstDay(data.rows, asked), to: asked.to, per },
    ...{ nameOf: (row) => nameIn(row, by), amountOf: value },
  });
  const { withoutCost } = data.total;
  const label = `${titled(measure)} by ${per}${by ? ` and ${titles[by].toLowerCase()}` : ''}`;
  return html`
    <section class="card" aria-label="Chart">
      <h2>${label}, ${asked.from} to ${asked.to}</h2>
      <${Bars} ...${{ label, text, ...stacks }} />
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
        <a class="button" href=${csv} download=${`usage-${asked.from}-${asked.to}.csv`}>CSV</a>
      </div>
      <${Figures} ...${{ data, per, by, seesCosts }} />
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

function Figures({ data: { rows, total }, per, by, seesCosts }) {
  const [all, setAll] = useState(false);
  const columns = [
    ['Charged', ({ charged }) => exactMoney(charged)],
    ['Corrected', ({ corrected }) => exactMoney(corrected)],
    ['Tasks', ({ tasks }) => count(tasks)],
    ['Failed', ({ failed }) => count(failed)],
    ['Seconds', ({ seconds }) => count(seconds)],
    ...(seesCosts
      ? [
          ['Cost', ({ cost }) => (cost === null ? '–' : exactMoney(cost))],
          ['Margin', ({ margin }) => (margin === null ? '–' : exactMoney(margin))],
        ]
      : []),
    ['Cost not known', ({ withoutCost }) => (withoutCost ? jobsText(withoutCost) : '–')],
  ];
  const shown = all ? rows : rows.slice(0, rowsShown);
  const cells = (row, name) =>
    columns.map(
      ([title, of]) => html`<td key=${title} class="number" data-label=${title}>
        ${title === 'Tasks' || title === 'Failed' ? tasksLink(row, name, title, of(row)) : of(row)}
      </td>`,
    );
  return html`
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th>${titles[per]}</th>${by && html`<th>${titles[by]}</th>`}
            ${columns.map(([title]) => html`<th key=${title} class="number">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (row) => html`
            <tr key=${`${row[per]} ${row[by]}`}>
              <td data-label=${titles[per]}>${row[per]}</td>
              ${
                by && html`<td data-label=${titles[by]}><${Foreign} text=${nameIn(row, by)} /></td>`
              }
              ${cells(row, by)}
            </tr>
          `,
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colspan=${by ? 2 : 1}>Total</th>${cells(total, '')}
          </tr>
        </tfoot>
      </table>
    </div>
    ${
      shown.length < rows.length &&
      html`<p><button type="button" class="button" onClick=${() => setAll(true)}>
        Show all ${count(rows.length)} rows
      </button></p>`
    }
  `;
}

/** Leads to tasks like those that the cell counts. The list of tasks has these filters only. */
function tasksLink(row, by, title, text) {
  const isFilter = by === 'model' || by === 'account';
  if (text === '0' || !isFilter) return text;
  const query = new URLSearchParams({ [by]: row[by] });
  if (title === 'Failed') query.set('status', 'failed');
  return html`<a href=${`#/tasks?${query}`}>${text}</a>`;
}
