// The summary of a month: what the account had, got, was charged and has.

import { SaveButton, Text } from './controls.js';
import { exactMoney } from './format.js';
import { useRead } from './hooks.js';
import { html, useState } from './preact.js';
import { State } from './state.js';
import { Table, usageColumns } from './table.js';

export function MonthSection({ api, currency }) {
  const [month, setMonth] = useState(new Date().toISOString().slice(0, 7));
  const path = `/v1/account/summaries/${encodeURIComponent(month)}`;
  const summary = useRead(api, path, null);
  const { value } = summary;
  return html`
    <section aria-label="Month" class="section">
      <div class="head">
        <${Text} label="Month" name="month" type="month" value=${month}
          onValue=${(text) => text && setMonth(text)} />
        ${value && html`<${SaveButton} name=${`summary-${month}.csv`} ask=${() => api.csv(path)} />`}
      </div>
      <${State} of=${summary} />
      ${value && html`<${Summary} ...${{ value, currency }} />`}
    </section>
  `;
}

function Summary({ value, currency }) {
  const sums = [
    ['Opening balance', value.opening_balance],
    ['Credits', value.credits],
    ['Corrections', value.corrections],
    ['Charged', `-${value.charged}`],
    [value.complete ? 'Closing balance' : 'Balance now', value.closing_balance],
  ];
  return html`
    <div class="card">
      <h2>${value.month}</h2>
      <table class="figures">
        <tbody>
          ${sums.map(
            ([title, amount]) => html`<tr key=${title}>
              <th scope="row">${title}</th><td>${exactMoney(amount, currency)}</td></tr>`,
          )}
        </tbody>
      </table>
      <p class="small">
        ${value.complete ? '' : 'The month goes on. '}Months begin at 00:00 ${value.time_zone}. A
        balance is what is available and held together. This is no invoice.
      </p>
    </div>
    ${
      value.lines.length > 0 &&
      html`<div class="card">
        <h2>By model and key</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="By model and key">
          <${Table} look="figures" label="Lines of the month" rows=${value.lines}
            keyOf=${({ model, key }) => `${model} ${key}`}
            columns=${[
              ['Model', ({ model }) => model],
              ['Key', ({ key }) => key || 'none'],
              ...usageColumns,
            ]} />
        </div>
      </div>`
    }
  `;
}
