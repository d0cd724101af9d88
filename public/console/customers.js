// The list of customers. The search is in the address. A new customer's secrets are shown once.

import { Select } from '../controls.js';
import { count, money } from '../format.js';
import { MoreButton } from '../pagination.js';
import { html } from '../preact.js';
import { FormDialog, filled, Secrets } from './dialog.js';
import {
  CsvButton,
  customerLink,
  customerOf,
  Filter,
  given,
  State,
  Table,
  Time,
  useTitle,
} from './parts.js';
import { filter } from './route.js';
import { useList, withId } from './use-list.js';

const everyMs = 30_000;
const balances = [
  ['', 'Any'],
  ['true', 'Below zero or the limit of its alerts'],
];
const refusals = [
  ['', 'Any'],
  ['true', 'In 7 days, most first'],
];

export function CustomersPage({ api, me, query }) {
  useTitle('Customers');
  const asked = given(query, ['find', 'low', 'refused']);
  const list = useList(api, '/accounts', { asked, everyMs, rowsOf: withId('accountId') });
  return html`
    <main>
      <div class="head">
        <h1>Customers</h1>
        ${me.role !== 'viewer' && html`<${NewCustomer} ...${{ api }} refresh=${list.refresh} />`}
      </div>
      <div class="filters">
        <${Filter} name="find" label="Name or id" hint="a part"
          view="customers" query=${query} />
        <${Select} label="Balance" name="low" value=${query.get('low') ?? ''} options=${balances}
          onValue=${(value) => filter('customers', query, 'low', value)} />
        <${Select} label="Refused calls" name="refused" value=${query.get('refused') ?? ''}
          options=${refusals} onValue=${(value) => filter('customers', query, 'refused', value)} />
      </div>
      <${State} of=${list} />
      ${list.value && html`<${Rows} accounts=${list.rows} isSearch=${Object.keys(asked).length > 0} />`}
      ${
        list.rows.length > 0 &&
        html`<p class="actions">
          <${MoreButton} load=${list.load} />
          <${CsvButton} path="/accounts" ...${{ api, asked }} />
        </p>`
      }
    </main>
  `;
}

function Rows({ accounts, isSearch }) {
  if (accounts.length === 0) {
    return isSearch
      ? html`<p class="nothing">No customer has these filters.</p>`
      : html`<p class="nothing">There is no customer yet. Make the first one.</p>`;
  }
  return html`<${Table} label="Customers" rows=${accounts} keyOf=${({ accountId }) => accountId}
    columns=${[
      ['Name', ({ accountId, name }) => customerOf({ accountId, accountName: name })],
      ['Id', ({ accountId }) => html`<code>${accountId}</code>`],
      ['Available', (one) => money(one.available, one.currency), true],
      ['Held', (one) => money(one.held, one.currency), true],
      ['Open tasks', ({ openTasks }) => openTasks, true],
      ['Charged, 30 days', (one) => money(one.charged30Days, one.currency), true],
      [
        'Refused, 7 days',
        ({ refused7Days }) => refused7Days && `about ${count(refused7Days)}`,
        true,
      ],
      ['Created', ({ createdAt }) => html`<${Time} at=${createdAt} />`],
      ['Disabled', ({ disabledAt }) => disabledAt && html`<${Time} at=${disabledAt} />`],
    ]} />`;
}

function NewCustomer({ api, refresh }) {
  const act = async (values) => {
    const { data } = await api.post('/accounts', filled(values));
    refresh();
    return html`
      <p>The customer is made: ${customerLink(data.accountId)}</p>
      <${Secrets} rows=${[['API key', data.apiKey], ['Webhook secret', data.webhookSecret]]} />
    `;
  };
  return html`<${FormDialog} title="New customer" label="New customer" act=${act}
    note="The customer gets a first key and a webhook secret, which are shown once. If the answer is lost, look in the list before you try again."
    fields=${[
      { name: 'name', label: 'Name', isRequired: true },
      { name: 'models', label: 'Models of its key', hint: 'with commas; empty: all' },
      { name: 'channels', label: 'Channels of its key', hint: 'with commas; empty: all' },
      { name: 'why', label: 'Why', hint: 'for the log of operators, optional' },
    ]} />`;
}
