// The statement, newest first: one line for each task and day with its total, below a heading for each
// day and month, or every movement.

import { SaveButton, Strip } from './controls.js';
import { clock, exactMillionths, exactMoney } from './format.js';
import { MoreButton, usePages } from './pagination.js';
import { html, useRef, useState } from './preact.js';
import { reportsOf } from './reports.js';
import { State } from './state.js';
import { daysOf } from './statement-days.js';
import { Table } from './table.js';

const views = [
  ['tasks', 'By task'],
  ['movements', 'Every movement'],
];

export function StatementSection({ api }) {
  const [view, setView] = useState('tasks');
  // The same days and months as in the reports, wherever the browser is.
  const zone = useRef('');
  const ask = async (after, limit) => {
    zone.current ||= (await reportsOf(api)).timeZone;
    return api.get(`/v1/account/statement?limit=${limit}${after ? `&after=${after}` : ''}`);
  };
  const list = usePages(ask, view === 'tasks' ? 60 : 20, () => 10_000, [api, view]);
  const save = () => api.csv('/v1/account/statement?limit=100');
  return html`
    <section aria-label="Statement" class="section">
      <div class="head">
        <${Strip} label="Show" name="view" value=${view} options=${views} onValue=${setView} />
        <${SaveButton} name="statement.csv" ask=${save} label="Newest 100 as CSV" />
      </div>
      <${State} of=${list} />
      ${list.value && html`<${Rows} ...${{ view, list }} zone=${zone.current} />`}
      <${MoreButton} load=${list.load} />
    </section>
  `;
}

function Rows({ view, list: { rows, load }, zone }) {
  if (rows.length === 0) return html`<p class="nothing">No money has moved yet.</p>`;
  return html`
    <p class="small">Times are those of ${zone}, where days and months begin at 00:00.</p>
    ${
      view === 'movements'
        ? html`<${Movements} ...${{ rows, zone }} />`
        : html`<${Days} days=${daysOf(rows, load !== null, zone)} zone=${zone} />`
    }
  `;
}

const chargedText = (charged) => `charged ${exactMillionths(charged)}`;

function Days({ days, zone }) {
  return days.map(
    ({ day, title, month, lines, charged, isWhole }) => html`
      ${
        month &&
        html`<h2 key=${month.title}>${month.title} <span class="hint">
          ${month.charged === null ? '' : chargedText(month.charged)}</span></h2>`
      }
      <section key=${day} class="day" aria-label=${title}>
        <h3>${title} <span class="hint">${isWhole ? chargedText(charged) : 'more below'}</span></h3>
        <ul class="lines">
          ${lines.map(
            ({ key, at, taskId, what, amount }) => html`<li key=${key}>
              <span class="when">${clock(at, zone).slice(-8)}</span>
              <span>${
                taskId
                  ? html`<a href=${`#/tasks/${taskId}`} title=${taskId}>Task …${taskId.slice(-6)}</a>${' '}
                  ${what}`
                  : what
              }</span>
              <span class=${amount > 0 ? 'amount plus' : 'amount'}>
                ${exactMillionths(amount)}</span>
            </li>`,
          )}
        </ul>
      </section>
    `,
  );
}

function Movements({ rows, zone }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Movements">
      <${Table} look="statement" label="Movements" rows=${rows} keyOf=${({ number }) => number}
        columns=${[
          ['When', ({ at }) => clock(at, zone)],
          ['What', (row) => html`${row.reason}<${Moved} row=${row} />`],
          ['Change', ({ change }) => html`<${Change} change=${change} />`, true],
          ['Available', (row) => exactMoney(row.balance_after), true],
          ['Task', ({ task_id: id }) => id && html`<${TaskLink} id=${id} />`, true],
        ]} />
    </div>
  `;
}

function Change({ change }) {
  return html`<span class=${Number(change) > 0 ? 'plus' : ''}>${exactMoney(change)}</span>`;
}

const TaskLink = ({ id }) => html`<a href=${`#/tasks/${id}`} title=${id}>…${id.slice(-6)}</a>`;

/**
 * A charge is paid from the hold, so it does not change the available amount. The charged amount is
 * therefore shown beside the reason of the movement.
 */
function Moved({ row }) {
  if (Number(row.change) !== 0 || Number(row.amount) === 0) return null;
  return html`<small>${exactMoney(row.amount)}</small>`;
}
