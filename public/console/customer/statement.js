// The statement of a customer: each movement with the balance after it, and the summary of a month.

import { Select } from '../../controls.js';
import { exactMoney } from '../../format.js';
import { useRead } from '../../hooks.js';
import { MoreButton } from '../../pagination.js';
import { html } from '../../preact.js';
import { CsvButton, Facts, Foreign, State, Table, Time, taskLink } from '../parts.js';
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

export function StatementTab({ api, account, path, query, view }) {
  const { currency } = account;
  const list = useList(api, `${path}/statement`, {
    everyMs,
    rowsOf: ({ movements }) => movements,
  });
  const months = monthsSince(account.createdAt);
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
                'Balance after',
                ({ balanceAfter }) => html`<strong>${exactMoney(balanceAfter, currency)}</strong>`,
                true,
              ],
              ['Reason', ({ kind, reason }) => ownReason(kind, reason)],
              ['Task', ({ taskId }) => taskLink(taskId)],
            ]} />`)
    }
    <p class="actions">
      <${MoreButton} load=${list.load} />
      ${!list.fault && html`<${CsvButton} api=${api} path=${`${path}/statement`} />`}
    </p>
  `;
}

/** The words of the movement itself are not repeated. */
function ownReason(kind, reason) {
  return reason === kinds[kind]?.toLowerCase() ? null : html`<${Foreign} text=${reason} />`;
}

/** The months in which the customer existed, the present one first. */
function monthsSince(createdAt) {
  const first = createdAt.slice(0, 7);
  const months = [];
  const at = new Date();
  at.setUTCDate(1);
  while (months.length < monthsMax && at.toISOString().slice(0, 7) >= first) {
    months.push(at.toISOString().slice(0, 7));
    at.setUTCMonth(at.getUTCMonth() - 1);
  }
  return months;
}

function Month({ api, path, month }) {
  const summary = useRead(api, `${path}/summary?month=${month}`, null);
  const data = summary.value?.data;
  return html`<section class="card" aria-label=${`Summary of ${month}`}>
    <h2>Summary of ${month}</h2>
    <${State} of=${summary} />
    ${
      data &&
      html`
        <${Facts} rows=${[
          ['Opening balance', exactMoney(data.opening_balance, data.currency)],
          ['Credits', exactMoney(data.credits, data.currency)],
          ['Corrections', exactMoney(data.corrections, data.currency)],
          ['Closing balance', exactMoney(data.closing_balance, data.currency)],
        ]} />
        ${
          data.lines.length > 0 &&
          html`<${Table} label="Charges of the month" rows=${data.lines}
            keyOf=${({ model, key }) => `${model} ${key}`}
            columns=${[
              ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
              ['Key', ({ key }) => html`<code>${key}</code>`],
              ['Tasks', ({ tasks }) => tasks, true],
              ['Failed', ({ failed }) => failed, true],
              ['Seconds', ({ seconds }) => seconds, true],
              ['Charged', ({ charged }) => exactMoney(charged), true],
            ]} />`
        }
      `
    }
  </section>`;
}
