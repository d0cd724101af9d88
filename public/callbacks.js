// The card with the state of a task's callback and with all attempts.

import { clock } from './format.js';
import { usePolled } from './hooks.js';
import { html } from './preact.js';

const states = {
  pending: 'being delivered',
  delivered: 'delivered',
  exhausted: 'given up',
  stopped: 'stopped by the receiver',
};

export function CallbacksCard({ api, task }) {
  const isOver = task.status === 'succeeded' || task.status === 'failed';
  const { value } = usePolled(
    () => api.callbacks(task.id),
    ({ state }) => (isOver && state === 'pending' ? 3_000 : null),
    [api, task.id, task.status],
  );
  if (!value || (value.state === 'pending' && !isOver)) return null;
  if (!Object.hasOwn(states, value.state)) return null;
  return html`
    <section class="card" aria-label="Callback">
      <h2>Callback <span class="hint">${states[value.state]}</span></h2>
      <ol class="attempts">
        ${value.data.map(
          ({ attempt, at, status, latency_ms: latency, error }) => html`
            <li key=${`${attempt} ${at}`} class=${status >= 200 && status < 300 ? 'good' : 'bad'}>
              <span>${attempt}. ${clock(at)}</span>
              <strong>${status ?? 'no answer'}</strong>
              <span>${latency === null ? '' : `${latency} ms`}</span>
              ${error && html`<small>${error}</small>`}
            </li>
          `,
        )}
      </ol>
      ${value.data.length === 0 && html`<p class="small">No attempt yet.</p>`}
      ${value.next_at && html`<p class="small">Next attempt ${clock(value.next_at)}</p>`}
    </section>
  `;
}
