// A list of tasks with its filters, for all customers or for one. The filters are in the address.

import { Select } from '../controls.js';
import { money } from '../format.js';
import { html } from '../preact.js';
import {
  customerOf,
  Filter,
  Foreign,
  given,
  ListActions,
  State,
  Table,
  Time,
  taskLink,
} from './parts.js';
import { filter } from './route.js';
import { useList, withId } from './use-list.js';

const statuses = ['pending', 'submitted', 'running', 'succeeded', 'failed'];
const sets = [
  ['open', 'open: opened and not ended'],
  ['overdue', 'open past the deadline'],
  ['unopened', 'not opened by a workflow'],
  ['unstored', 'video not stored'],
  ['uncancelled', 'ended, job not cancelled'],
];
const everyMs = 4_000;
const filters = [
  ['account', 'Customer', 'id or name'],
  ['model', 'Model', ''],
  ['key', 'Key', 'its id'],
  ['error', 'Error', 'its code'],
  ['label', 'Label', 'name=value'],
  ['from', 'From', '2027-01-31'],
  ['to', 'Before', '2027-02-28'],
];

/** `view`: the address of the page. `fixed`: filters that the page sets. */
export function TaskList({ api, query, view, fixed = {} }) {
  const typed = filters.filter(([name]) => !Object.hasOwn(fixed, name));
  const asked = {
    ...given(query, ['status', 'oldestFirst', ...typed.map(([name]) => name)]),
    ...fixed,
  };
  const list = useList(api, '/tasks', { asked, everyMs, rowsOf: withId('taskId') });
  return html`
    <div class="filters">
      <${Select} label="Status" name="status" value=${query.get('status') ?? ''}
        onValue=${(value) => filter(view, query, 'status', value)}
        options=${[['', 'All'], ...statuses.map((one) => [one, one]), ...sets]} />
      ${typed.map(
        ([name, label, hint]) =>
          html`<${Filter} key=${name} ...${{ name, label, hint, query, view }} />`,
      )}
      <${Select} label="Order" name="oldestFirst" value=${query.get('oldestFirst') ?? ''}
        onValue=${(value) => filter(view, query, 'oldestFirst', value)}
        options=${[['', 'newest first'], ['true', 'oldest first']]} />
    </div>
    <${State} of=${list} />
    ${list.value && html`<${Rows} tasks=${list.rows} isPart=${list.load !== null} hidden=${fixed} />`}
    <${ListActions} list=${list} path="/tasks" ...${{ api, asked }} />
  `;
}

function Rows({ tasks, isPart, hidden }) {
  if (tasks.length === 0) {
    return html`<p class="nothing">
      ${isPart ? 'None of the newest thousands has these filters.' : 'No task has these filters.'}
    </p>`;
  }
  return html`<${Table} label="Tasks" rows=${tasks} keyOf=${({ taskId }) => taskId}
    columns=${taskColumns.filter(([title]) => title !== 'Customer' || !hidden.account)} />`;
}

export const taskColumns = [
  ['Created', ({ createdAt }) => html`<${Time} at=${createdAt} />`],
  ['Task', ({ taskId }) => taskLink(taskId)],
  ['Customer', customerOf],
  ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
  [
    'Status',
    ({ status, task: { stage } }) =>
      html`<span class=${`badge ${status}`}>${stage ? `${status}: ${stage}` : status}</span>`,
  ],
  [
    'What it does',
    ({ task: { error, message } }) =>
      html`<${Foreign} text=${error ? `${error.code}: ${error.message}` : message} />`,
  ],
  ['Held or charged', ({ task }) => heldOrCharged(task), true],
];

function heldOrCharged({ billing, finished_at }) {
  if (!billing) return '–';
  return money(finished_at === undefined ? billing.held : billing.charged, billing.currency);
}
