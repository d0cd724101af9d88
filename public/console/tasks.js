// The list of all tasks. Its filters are in the address.

import { Select, Text } from '../controls.js';
import { money } from '../format.js';
import { MoreButton, usePages } from '../pagination.js';
import { html, useState } from '../preact.js';
import { Banner, Foreign, State, Time, useTitle } from './parts.js';
import { filter } from './route.js';

const statuses = ['pending', 'submitted', 'running', 'succeeded', 'failed'];
const everyMs = 4_000;
const filters = ['status', 'account', 'model', 'label'];

export function TasksPage({ api, query }) {
  useTitle('Tasks');
  const ask = async (after, limit) => {
    const asked = new URLSearchParams({ limit });
    for (const name of filters) if (query.get(name)) asked.set(name, query.get(name));
    if (after) asked.set('after', after);
    const { data, next } = await api.get(`/tasks?${asked}`);
    return { data: data.map((task) => ({ ...task, id: task.taskId })), next };
  };
  const list = usePages(ask, 50, () => (document.hidden ? null : everyMs), [api, query.toString()]);
  return html`
    <main>
      <h1>Tasks</h1>
      <div class="filters">
        <${Select} label="Status" name="status" value=${query.get('status') ?? ''}
          onValue=${(value) => filter('tasks', query, 'status', value)}
          options=${[['', 'All'], ...statuses.map((one) => [one, one])]} />
        ${[
          ['account', 'Customer', 'id or name'],
          ['model', 'Model', ''],
          ['label', 'Label', 'name=value'],
        ].map(
          ([name, label, hint]) =>
            html`<${Filter} key=${name} ...${{ name, label, hint, query }} />`,
        )}
      </div>
      <${Banner} lost=${list.lost} />
      <${State} of=${list} />
      ${
        list.value &&
        (list.rows.length === 0
          ? html`<p class="nothing">No task has these filters.</p>`
          : html`<${Rows} tasks=${list.rows} />`)
      }
      <${MoreButton} load=${list.load} />
    </main>
  `;
}

/** A typed filter counts when the field is left, or with Enter. */
function Filter({ name, label, hint, query }) {
  const [value, setValue] = useState(query.get(name) ?? '');
  return html`<form onSubmit=${(event) => event.preventDefault()}>
    <${Text} label=${label} name=${name} placeholder=${hint} value=${value} onValue=${setValue}
      onChange=${() => filter('tasks', query, name, value.trim())} />
  </form>`;
}

function Rows({ tasks }) {
  return html`
    <table>
      <thead>
        <tr>
          <th>Created (UTC)</th><th>Task</th><th>Customer</th><th>Model</th><th>Status</th>
          <th>What it does</th><th class="number">Held or charged</th>
        </tr>
      </thead>
      <tbody>
        ${tasks.map(({ taskId, accountId, createdAt, status, model, task }) => {
          const { billing, stage, message } = task;
          const isOver = task.finished_at !== undefined;
          return html`
            <tr key=${taskId}>
              <td data-label="Created"><${Time} at=${createdAt} /></td>
              <td data-label="Task"><a href=${`#/tasks/${taskId}`}>…${taskId.slice(-6)}</a></td>
              <td data-label="Customer"><${Foreign} text=${accountId} /></td>
              <td data-label="Model"><${Foreign} text=${model} /></td>
              <td data-label="Status">
                <span class=${`badge ${status}`}>${stage ? `${status}: ${stage}` : status}</span>
              </td>
              <td data-label="What it does"><${Foreign} text=${message} /></td>
              <td data-label="Held or charged" class="number">
                ${billing ? money(isOver ? billing.charged : billing.held, billing.currency) : '–'}
              </td>
            </tr>
          `;
        })}
      </tbody>
    </table>
  `;
}
