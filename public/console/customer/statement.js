// The statement of a customer: each movement with the balance after it, and the summary of a month.

import { Select } from '../../controls.js';
import { exactMoney } from '../../format.js';
import { useRead } from '../../hooks.js';
import { html } from '../../preact.js';
import { dayIn, daysBefore } from '../../stacks.js';
import { Summary } from '../../summary.js';
import { CsvButton, Foreign, ListActions, State, Table, Time, taskLink } from '../parts.js';
import { filter } from '../route.js';
import { useList } from '../use-list.js';

const everyMs = 10_000;
const monthsMax = 24;

const kinds = {
  hold: 'Held for a task',
  settle: 'Charged from the hold',
  refund: 'Returned from the hold',
  extra_charge: 'Charged beyond the hold',
  credit: 'Credit',
  correction: 'Correction',
};

export function StatementTab({ api, me, account, path, query, view }) {
  const { currency } = account;
  const list = useList(api, `${path}/statement`, {
    everyMs,
    rowsOf: ({ movements }) => movements,
  });
  const months = monthsSince(account.createdAt, me.timeZone);
  const month = months.includes(query.get('month')) ? query.get('month') : '';
  return html`
    <div class="filters">
      <${Select} label="Summary of a month" name="month" value=${month}
        options=${[['', 'None'], ...months.map((one) => [one, one])]}
        onValue=${(value) => filter(view, query, 'month', value)} />
    </div>
    ${month && html`<${Month} key=${month} ...${{ api, path, month }} />`}
    <${State} of=${list} />
    ${
      list.value &&
      (list.rows.length === 0
        ? html`<p class="nothing">No money has moved yet. A credit is the first movement.</p>`
        : html`<${Table} label="Statement" rows=${list.rows} keyOf=${({ number }) => number}
            columns=${[
              ['Number', ({ number }) => number, true],
              ['At', ({ at }) => html`<${Time} at=${at} />`],
              ['Movement', ({ kind }) => kinds[kind] ?? kind],
              ['Amount', ({ amount }) => exactMoney(amount), true],
              ['Change', ({ change }) => exactMoney(change), true],
              [
                'Available after',
                ({ balanceAfter }) => html`<strong>${exactMoney(balanceAfter, currency)}</strong>`,
                true,
              ],
              ['Reason', ({ kind, reason }) => ownReason(kind, reason)],
              ['Task', ({ taskId }) => taskLink(taskId)],
            ]} />`)
    }
    <${ListActions} list=${list} api=${api} path=${`${path}/statement`} />
  `;
}

/** The words of the movement itself are not repeated. */
function ownReason(kind, reason) {
  return reason === kinds[kind]?.toLowerCase() ? null : html`<${Foreign} text=${reason} />`;
}

/** The months in which the customer existed, the present one first, as the reports begin them. */
function monthsSince(createdAt, timeZone) {
  const first = dayIn(timeZone, new Date(createdAt)).slice(0, 7);
  const months = [];
  let month = dayIn(timeZone).slice(0, 7);
  while (months.length < monthsMax && month >= first) {
    months.push(month);
    month = daysBefore(`${month}-01`, 1).slice(0, 7);
  }
  return months;
}

function Month({ api, path, month }) {
  const asked = `${path}/summary`;
  const summary = useRead(api, `${asked}?month=${month}`, null);
  return html`<section class="card" aria-label=${`Summary of ${month}`}>
    <div class="head">
      <h2>Summary of ${month}</h2>
      ${
        summary.value &&
        html`<${CsvButton} path=${asked} name=${`summary-${month}`} ...${{ api, asked: { month } }} />`
      }
    </div>
    <${State} of=${summary} />
    ${summary.value && html`<${Summary} value=${summary.value.data} />`}
  </section>`;
}
