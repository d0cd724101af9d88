// The page with the account's tasks, newest first, with filters by status and model.

import { Select } from './controls.js';
import { ago, money, span } from './format.js';
import { useNow } from './hooks.js';
import { MoreButton, usePages } from './pagination.js';
import { html, useState } from './preact.js';
import { noteOf } from './session.js';
import { State } from './state.js';

const statuses = ['pending', 'submitted', 'running', 'succeeded', 'failed'];
const everyMs = 4_000;

export function TasksPage({ api, models }) {
  const [status, setStatus] = useState('');
  const [model, setModel] = useState('');
  const now = useNow(5_000);
  const ask = (after, limit) => {
    const query = new URLSearchParams({ limit });
    for (const [name, value] of Object.entries({ status, model, after }))
      if (value) query.set(name, value);
    return api.get(`/v1/tasks?${query}`);
  };
  const list = usePages(ask, 20, () => everyMs, [api, status, model]);
  const { rows } = list;
  return html`
    <main class="list">
      <h1>Tasks</h1>
      <div class="filters">
        <${Select} label="Status" name="status" value=${status} onValue=${setStatus}
          options=${[['', 'All'], ...statuses.map((one) => [one, one])]} />
        <${Select} label="Model" name="model" value=${model} onValue=${setModel}
          options=${[['', 'All'], ...(models ?? []).map(({ id }) => [id, id])]} />
      </div>
      <${State} of=${list} />
      ${
        list.value &&
        rows.length === 0 &&
        html`<p class="nothing">Nothing here yet. <a
        href="#/create">Create a video</a></p>`
      }
      <ul class="rows">
        ${rows.map((task) => html`<${Row} key=${task.id} task=${task} now=${now} />`)}
      </ul>
      <${MoreButton} load=${list.load} />
    </main>
  `;
}

function Row({ task, now }) {
  const prompt = noteOf(task.id).body?.prompt;
  const { billing, data, finished_at: finished, created_at: created } = task;
  const isOver = finished !== undefined;
  return html`
    <li>
      <a href=${`#/tasks/${task.id}`}>
        ${
          data[0]?.last_frame_url
            ? html`<img class="thumb" src=${data[0].last_frame_url} alt="" loading="lazy" />`
            : html`<span class=${`thumb ${task.status}`} aria-hidden="true"></span>`
        }
        <span class="title">${prompt ?? task.id}</span>
        <span class=${`badge ${task.status}`}>${task.status}</span>
        <span class="meta">
          <span>${task.model}</span>
          <span>${ago(created, now)}</span>
          ${isOver && html`<span>took ${span(finished - created)}</span>`}
        </span>
        <span class="amount">
          ${billing ? money(isOver ? billing.charged : billing.held, billing.currency) : ''}</span>
      </a>
    </li>
  `;
}
