// The budgets of a customer and its keys, each as a bar: what is spent, what is held, and where 80 % is.

import { money } from '../../format.js';
import { html } from '../../preact.js';
import { AskWhy, FormDialog, filled } from '../dialog.js';
import { Time } from '../parts.js';
import { Part } from './part.js';

export function Budgets({ api, may, account: { accountId, currency } }) {
  const path = `/accounts/${encodeURIComponent(accountId)}/budgets`;
  const actions = (refresh) => may.act && html`<${SetBudget} ...${{ api, path, refresh }} />`;
  return html`<${Part} title="Budgets" everyMs=${null} ...${{ api, path, actions }}>
    ${(budgets, refresh) =>
      budgets.length === 0
        ? html`<p>It has no budget: only its balance limits what it spends.</p>`
        : html`<ul class="budgets">
            ${budgets.map(
              (budget) => html`<li key=${`${budget.keyId} ${budget.period}`}>
                <${Bar} ...${{ budget, currency }} />
                ${
                  may.act &&
                  html`<${AskWhy} title="Remove this budget" label="Remove"
                    act=${async (why) => {
                      const key = budget.keyId === null ? {} : { key: budget.keyId };
                      await api.remove(
                        `${path}?${new URLSearchParams({ period: budget.period, ...key, why })}`,
                      );
                      refresh();
                    }} />`
                }
              </li>`,
            )}
          </ul>`}
  </${Part}>`;
}

const ofPeriod = { day: 'a day', month: 'a month', total: 'in all' };

function Bar({ budget, currency }) {
  const { keyId, period, limit, spent, held, beginsAnewAt, timeZone } = budget;
  const share = (amount) => Math.min(100, (Number(amount) / Number(limit)) * 100 || 0);
  const used = share(Number(spent) + Number(held));
  const words =
    `${money(spent, currency)} spent and ${money(held, currency)} held of ` +
    `${money(limit, currency)} ${ofPeriod[period]}`;
  return html`<div class="budget">
    <p><strong>${keyId === null ? 'All keys' : html`<code>${keyId}</code>`}</strong>${`: ${words}`}</p>
    <svg class=${used >= 80 ? 'bar near' : 'bar'} viewBox="0 0 100 6" preserveAspectRatio="none"
      role="img" aria-label=${`${Math.round(used)} % used: ${words}. A mark is at 80 %.`}>
      <rect class="all" width="100" height="6" />
      <rect class="held" width=${used} height="6" />
      <rect class="spent" width=${share(spent)} height="6" />
      <rect class="mark" x="79.8" width="0.4" height="6" />
    </svg>
    ${
      beginsAnewAt &&
      html`<p class="small">Begins anew at <${Time} at=${beginsAnewAt} /> UTC${timeZone !== 'UTC' && ` (${timeZone})`}.</p>`
    }
  </div>`;
}

function SetBudget({ api, path, refresh }) {
  return html`<${FormDialog} title="Set a budget" label="Set budget" asksWhy=${true}
    note="It counts from the next create on. The one of the same key and period is replaced."
    fields=${[
      {
        ...{ name: 'period', label: 'Period', value: 'month' },
        options: Object.entries(ofPeriod),
      },
      { name: 'limit', label: 'Limit', hint: 'such as 100.00', isRequired: true },
      { name: 'key', label: 'Key', hint: 'its id; empty: all keys together' },
      {
        name: 'timeZone',
        label: 'Time zone of the account',
        hint: 'such as Asia/Shanghai; empty: stays',
      },
    ]}
    act=${async (values) => {
      await api.post(path, filled(values));
      refresh();
    }} />`;
}
