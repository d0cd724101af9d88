// The overview of a customer: its money, budgets, usage of thirty days, limits in force and last tasks.

import { count, exactMoney, money } from '../../format.js';
import { html } from '../../preact.js';
import { Facts, Foreign, Table, Time } from '../parts.js';
import { taskColumns } from '../task-list.js';
import { Budgets } from './budgets.js';
import { Part } from './part.js';
import { Prices } from './prices.js';

export function Overview(shared) {
  const { api, me, account, view } = shared;
  const { accountId, available, held, currency, openTasks, createdAt, disabledAt } = account;
  const named = encodeURIComponent(accountId);
  return html`
    <section class="card" aria-label="Balance">
      <h2>Balance</h2>
      <p class="figure" data-test="available">${exactMoney(available, currency)}</p>
      <${Facts} rows=${[
        ['Held', exactMoney(held, currency)],
        ['Open tasks', openTasks],
        ['Created', html`<${Time} at=${createdAt} />`],
        disabledAt && ['Disabled', html`<${Time} at=${disabledAt} />`],
      ]} />
    </section>
    <${Budgets} ...${shared} />
    <${Part} title="Usage of 30 days" api=${api} path=${`/usage?account=${named}&by=model`}>
      ${(data) => html`<${Usage} ...${{ data, currency }} seesCosts=${me.role !== 'viewer'} />`}
    </${Part}>
    <${Refused} rows=${account.refused} />
    <section class="card" aria-label="Limits in force">
      <h2>Limits in force</h2>
      <${Facts} rows=${Object.entries(account.inForce).map(([name, value]) => [
        limitNames[name] ?? name,
        html`<${Foreign} text=${value} />`,
      ])} />
    </section>
    <${Prices} ...${shared} />
    <${Part} title="Last tasks" api=${api} path=${`/tasks?account=${named}&limit=5`}>
      ${(tasks) =>
        tasks.length === 0
          ? html`<p>It has no tasks yet.</p>`
          : html`<${Table} label="Last tasks" rows=${tasks} keyOf=${({ taskId }) => taskId}
                columns=${taskColumns.filter(([title]) => title !== 'Customer')} />
              <p><a href=${`#/${view}?tab=tasks`}>All its tasks</a></p>`}
    </${Part}>
  `;
}

/** Which limits the customer reaches. */
function Refused({ rows }) {
  return html`<section class="card" aria-label="Refused in 7 days">
    <h2>Refused in 7 days</h2>
    ${
      rows.length === 0
        ? html`<p>No call was refused because of its limits, its money or its rights.</p>`
        : html`<${Table} label="Refused in 7 days" rows=${rows} keyOf=${({ day, code }) => `${day} ${code}`}
              columns=${[
                ['Day', ({ day }) => day],
                ['Code', ({ code }) => html`<code>${code}</code>`],
                ['Calls, about', ({ calls }) => count(calls), true],
              ]} />
            <p class="small">
              Each API process adds what it has counted once a minute, and one that is killed loses its last minute.
            </p>`
    }
  </section>`;
}

const limitNames = {
  runningMax: 'Running tasks',
  queuedMax: 'Unfinished tasks',
  createRate: 'Creates a second',
  readRate: 'Reads a second',
  filesKeptDays: 'Days for files',
  tasksKeptDays: 'Days for tasks',
  trustsLengths: 'Trusts lengths',
  priceList: 'Price list',
  alertBelow: 'Announced below',
};

function Usage({ data: { rows, total }, currency, seesCosts }) {
  if (rows.length === 0) return html`<p>Nothing ended in the last 30 days.</p>`;
  const known = (amount) => (amount === null ? 'unknown' : money(amount, currency));
  const all = [...rows, { ...total, model: null }];
  return html`<${Table} label="Usage by model" rows=${all} keyOf=${({ model }) => model}
    columns=${[
      [
        'Model',
        ({ model }) =>
          model === null ? html`<strong>All</strong>` : html`<${Foreign} text=${model} />`,
      ],
      ['Tasks', ({ tasks }) => tasks, true],
      ['Failed', ({ failed }) => failed, true],
      ['Seconds', ({ seconds }) => seconds, true],
      ['Charged', ({ charged }) => money(charged, currency), true],
      seesCosts && ['Cost', ({ cost }) => known(cost), true],
      seesCosts && ['Margin', ({ margin }) => known(margin), true],
    ]} />`;
}
