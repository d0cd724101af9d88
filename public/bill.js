// The card with the cost of a task: the held amount while the task runs, and the bill after its
// end.

import { count, exactMoney, money } from './format.js';
import { html } from './preact.js';
import { Items } from './quote.js';

const titles = { succeeded: 'Bill', failed: 'Bill' };

export function BillCard({ billing, usage, status }) {
  if (!billing) return null;
  const { currency, held, charged, refunded, items } = billing;
  const isSettled = status === 'succeeded' || status === 'failed';
  return html`
    <section class="ticket" aria-label="Bill">
      <h2>${titles[status] ?? 'Held'}</h2>
      <p class="sum">
        <strong data-test="charged">
          ${money(isSettled ? charged : held)}</strong> ${currency}
      </p>
      <${Items} items=${items} />
      <dl>
        <div><dt>Held at submission</dt><dd>${exactMoney(held)}</dd></div>
        ${isSettled && html`<div><dt>Charged</dt><dd>${exactMoney(charged)}</dd></div>`}
        ${isSettled && html`<div><dt>Returned</dt><dd>${exactMoney(refunded)}</dd></div>`}
        ${
          usage &&
          html`<div><dt>Tokens used</dt><dd data-test="tokens">
          ${count(usage.completion_tokens)}</dd></div>`
        }
      </dl>
      ${
        billing.usage_missing &&
        html`<p
        class="small">No plausible usage was reported, so what was held was charged.</p>`
      }
    </section>
  `;
}
