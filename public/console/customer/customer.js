// One customer. Its tab is in the address. Actions that the role would be refused are not shown.

import { CopyButton } from '../../controls.js';
import { useRead } from '../../hooks.js';
import { html } from '../../preact.js';
import { AskWhy, FormDialog } from '../dialog.js';
import { isPaused } from '../keyboard.js';
import { LogList } from '../log/list.js';
import { Foreign, State, useTitle } from '../parts.js';
import { TaskList } from '../task-list.js';
import { CallbacksTab } from './callbacks.js';
import { KeysTab } from './keys.js';
import { MoneyActions } from './money.js';
import { Overview } from './overview.js';
import { StatementTab } from './statement.js';
import { Terms } from './terms.js';

const everyMs = 10_000;

const tabs = [
  ['overview', 'Overview'],
  ['tasks', 'Tasks'],
  ['statement', 'Statement'],
  ['keys', 'Keys'],
  ['webhooks', 'Webhooks and callbacks'],
  ['log', 'Log'],
];

export function CustomerPage({ api, me, id, query }) {
  const path = `/accounts/${encodeURIComponent(id)}`;
  const shown = useRead(api, path, everyMs, isPaused);
  const account = shown.value?.data;
  const catalogue = useRead(api, '/catalogue', null);
  useTitle(account?.name ?? 'Customer');
  const tab = tabs.find(([name]) => name === query.get('tab'))?.[0] ?? 'overview';
  const view = `customers/${encodeURIComponent(id)}`;
  const may = { act: me.role !== 'viewer', own: me.role === 'owner' };
  const shared = { api, me, may, account, catalogue, path, query, view, refresh: shown.refresh };
  return html`
    <main>
      <p><a href="#/customers">Customers</a></p>
      ${!account && html`<h1>Customer</h1>`}
      <${State} of=${shown} />
      ${
        account &&
        html`
          <${Head} ...${shared} />
          <nav class="tabs" aria-label="Of this customer">
            ${tabs.map(
              ([name, title]) => html`<a key=${name} class="tab" href=${`#/${view}?tab=${name}`}
                aria-current=${name === tab ? 'page' : undefined}>${title}</a>`,
            )}
          </nav>
          <${Tab} tab=${tab} ...${shared} />
        `
      }
    </main>
  `;
}

function Tab({ tab, ...shared }) {
  const { api, account, query, view } = shared;
  const { accountId } = account;
  if (tab === 'tasks') {
    return html`<${TaskList} ...${{ api, query, view }} fixed=${{ account: accountId }} />`;
  }
  if (tab === 'statement') return html`<${StatementTab} ...${shared} />`;
  if (tab === 'keys') return html`<${KeysTab} ...${shared} />`;
  if (tab === 'webhooks') return html`<${CallbacksTab} ...${shared} />`;
  if (tab === 'log') {
    return html`<${LogList} ...${{ api, query, view }} fixed=${{ account: accountId }} />`;
  }
  return html`<${Overview} ...${shared} />`;
}

function Head({ api, may, account, catalogue, path, refresh }) {
  const { accountId, name, disabledAt, erasedAt } = account;
  return html`
    <div>
      <h1><${Foreign} text=${name} /></h1>
      <p class="under">
        <code>${accountId}</code> <${CopyButton} text=${accountId} />
        ${disabledAt && html`<span class="badge failed">disabled</span>`}
        ${erasedAt && html`<span class="badge failed">erased</span>`}
      </p>
    </div>
    ${
      may.act &&
      html`<div class="actions">
        ${may.own && html`<${MoneyActions} ...${{ api, account, path, refresh }} />`}
        <${Terms} ...${{ api, account, catalogue, path, refresh }} />
        <${Closing} ...${{ api, account, path, refresh }} />
      </div>`
    }
  `;
}

function Closing({ api, account: { disabledAt }, path, refresh }) {
  if (disabledAt) {
    return html`<${AskWhy} title="Enable this customer" label="Enable"
      act=${async (why) => {
        await api.post(`${path}/enable`, { why });
        refresh();
      }} />`;
  }
  return html`<${FormDialog} title="Disable this customer" label="Disable" isDanger=${true}
    asksWhy=${true}
    note="It starts no more tasks at once, and its keys are refused within 30 seconds."
    fields=${[
      {
        ...{ name: 'cancel', label: 'Its unfinished tasks', value: 'false' },
        options: [
          ['false', 'finish as usual'],
          ['true', 'are cancelled'],
        ],
      },
    ]}
    act=${async ({ cancel, why }) => {
      await api.post(`${path}/disable`, { cancel: cancel === 'true', why });
      refresh();
    }} />`;
}
