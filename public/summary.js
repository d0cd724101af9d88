// The summary of a month, for both pages: what a customer had, got, was charged and has, and its charges
// by model and key.

import { Foreign } from './foreign.js';
import { exactMoney, millionths } from './format.js';
import { html } from './preact.js';
import { Table, usageColumns } from './table.js';

const below = (amount) => (millionths(amount) === 0 ? amount : `-${amount}`);

/** `value`: the answer of the service. The sums come to the last one. */
export function Summary({ value }) {
  const { month, complete, currency, time_zone: zone, lines } = value;
  const sums = [
    ['Opening balance', value.opening_balance],
    ['Credits', value.credits],
    ['Corrections', value.corrections],
    ['Charged', below(value.charged)],
  ];
  return html`
    <${Table} look="figures" label=${`Balance of ${month}`} rows=${sums} keyOf=${([title]) => title}
      total=${['', value.closing_balance]} totalTitle=${complete ? 'Closing balance' : 'Balance now'}
      columns=${[
        ['Sum', ([title]) => title],
        ['Amount', ([, amount]) => exactMoney(amount, currency), true],
      ]} />
    <p class="small">
      ${complete ? '' : 'The month goes on. '}Months begin at 00:00 ${zone}. These balances are what is
      available and held together; the statement has what is available. This is no invoice.
    </p>
    ${
      lines.length > 0 &&
      html`<h3>Charged by model and key</h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Charged by model and key">
          <${Table} look="figures" label="Lines of the month" rows=${lines}
            keyOf=${({ model, key }) => `${model} ${key}`}
            columns=${[
              ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
              ['Key', ({ key }) => (key ? html`<code><${Foreign} text=${key} /></code>` : 'none')],
              ...usageColumns,
            ]} />
        </div>`
    }
  `;
}
