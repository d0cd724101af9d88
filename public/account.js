// The account page: the available and the held amount, and the statement with every movement,
// newest first.

import { clock, exactMoney, money } from './format.js';
import { MoreButton, usePages } from './pagination.js';
import { html } from './preact.js';

export function AccountPage({ api, account }) {
  const ask = (after, limit) =>
    api.get(`/v1/account/statement?limit=${limit}${after ? `&after=${after}` : ''}`);
  const list = usePages(ask, 20, () => 10_000, [api]);
  const { available, held, currency } = account.value ?? {};
  return html`
    <main class="list">
      <h1>Account</h1>
      <div class="sums">
        <div class="card"><h2>Available</h2><p class="sum"><strong data-test="available">
          ${available === undefined ? '…' : money(available)}</strong> ${currency}</p></div>
        <div class="card"><h2>Held</h2><p class="sum"><strong data-test="held">
          ${held === undefined ? '…' : money(held)}</strong> ${currency}</p></div>
      </div>
      <h2>Statement</h2>
      ${list.fault && html`<p class="fault" role="alert">${list.fault.message}</p>`}
      <div class="scroll" tabindex="0" role="region" aria-label="Statement">
        <table class="statement">
          <thead>
            <tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Change</th><th
              scope="col">Available</th><th scope="col">Task</th></tr>
          </thead>
          <tbody>
            ${list.rows.map((row) => html`<${Movement} key=${row.number} row=${row} />`)}
          </tbody>
        </table>
      </div>
      <${MoreButton} load=${list.load} />
    </main>
  `;
}

function Movement({ row }) {
  return html`
    <tr>
      <td>${clock(row.at)}</td>
      <td>${row.reason}<${Moved} row=${row} /></td>
      <td class=${Number(row.change) > 0 ? 'plus' : ''}>${exactMoney(row.change)}</td>
      <td>${exactMoney(row.balance_after)}</td>
      <td>
        ${
          row.task_id &&
          html`<a href=${`#/tasks/${row.task_id}`} title=${row.task_id}>
          …${row.task_id.slice(-6)}</a>`
        }
      </td>
    </tr>
  `;
}

/**
 * A charge is paid from the hold, so it does not change the available amount. The charged amount is
 * therefore shown beside the reason of the movement.
 */
function Moved({ row }) {
  if (Number(row.change) !== 0 || Number(row.amount) === 0) return null;
  return html`<small>${exactMoney(row.amount)}</small>`;
}
