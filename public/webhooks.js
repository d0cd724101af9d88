// The webhooks of the account: list, add, test, delete; and its callbacks that have not arrived.

import { sentenceOf } from './api.js';
import { Checks, Secret, Text } from './controls.js';
import { clock } from './format.js';
import { useOnce, useRead } from './hooks.js';
import { MoreButton, usePages } from './pagination.js';
import { html, useState } from './preact.js';
import { SendAgain } from './send-again.js';
import { State } from './state.js';

const events = [
  ['succeeded', 'A task succeeded'],
  ['failed', 'A task failed'],
  ['balance.low', 'The balance is low'],
  ['budget.near', 'A budget is at 80%'],
  ['budget.reached', 'A budget is reached'],
];

export function WebhooksSection({ api }) {
  const list = useRead(api, '/v1/webhooks', null);
  const hooks = list.value?.data;
  return html`
    <section aria-label="Webhooks" class="section">
      <${State} of=${list} />
      ${hooks?.length === 0 && html`<p class="nothing">No webhook yet.</p>`}
      <ul class="cards">
        ${(hooks ?? []).map(
          (hook) => html`<${Hook} key=${hook.id} ...${{ api, hook }} onChanged=${list.refresh} />`,
        )}
      </ul>
      <${AddHook} api=${api} onChanged=${list.refresh} />
      <${Undelivered} api=${api} />
    </section>
  `;
}

function Hook({ api, hook, onChanged }) {
  const [said, setSaid] = useState('');
  const [isBusy, once] = useOnce();
  const act = (work) =>
    once(async () => {
      setSaid('');
      await work().catch((error) => setSaid(error.message));
    });
  const test = () =>
    act(async () => {
      const { status, latency_ms: ms, error } = await api.post(`/v1/webhooks/${hook.id}/test`);
      setSaid(error ? `Not taken: ${error}` : `Taken with ${status} in ${ms} ms.`);
    });
  const remove = () => {
    if (!confirm('Delete the webhook? Its messages that have not arrived are stopped.')) return;
    void act(() => api.remove(`/v1/webhooks/${hook.id}`)).then(onChanged);
  };
  return html`<li class="card">
    <p class="named"><bdi>${hook.url}</bdi></p>
    <p class="small">${hook.events.join(', ')} · since ${clock(hook.created_at)}</p>
    <p class="actions">
      <button type="button" class="button" disabled=${isBusy} onClick=${test}>
        ${isBusy ? 'Waiting…' : 'Send a test'}</button>
      <button type="button" class="danger" disabled=${isBusy} onClick=${remove}>Delete</button>
    </p>
    ${said && html`<p class="small" role="status">${said}</p>`}
  </li>`;
}

const ifLost =
  'The webhook may have been added. If the list has it, delete it and add it again: its secret is not shown again.';

function AddHook({ api, onChanged }) {
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState(['succeeded', 'failed']);
  const [made, setMade] = useState(null);
  const [fault, setFault] = useState('');
  const [isBusy, once] = useOnce();
  const add = async () => {
    setFault('');
    try {
      setMade(await api.post('/v1/webhooks', { url, events: chosen }));
      setUrl('');
    } catch (error) {
      setFault(sentenceOf(error, ifLost));
    }
    onChanged();
  };
  const submit = (event) => {
    event.preventDefault();
    void once(add);
  };
  return html`
    <form class="card stacked" onSubmit=${submit} novalidate>
      <h2>Add a webhook</h2>
      <${Text} label="Address" name="url" type="url" placeholder="https://" value=${url}
        onValue=${setUrl} fault=${fault} />
      <${Checks} label="Events" chosen=${chosen} options=${events} onValue=${setChosen} />
      <p><button class="button" disabled=${isBusy || !url.trim() || chosen.length === 0}>
        ${isBusy ? 'Adding…' : 'Add'}</button></p>
      ${
        made &&
        html`<${Secret} note="This secret signs its messages, and is not shown again."
          text=${made.secret} />`
      }
    </form>
  `;
}

const words = {
  pending: 'still tried',
  exhausted: 'given up',
  stopped: 'stopped',
};

/** A row of a list has an `id`. */
async function askUndelivered(api, after, limit) {
  const search = new URLSearchParams({ state: Object.keys(words), limit });
  if (after) search.set('after', after);
  const { data, next } = await api.get(`/v1/callbacks?${search}`);
  return { data: data.map((row) => ({ ...row, id: row.task_id })), next };
}

function Undelivered({ api }) {
  const list = usePages(
    (after, limit) => askUndelivered(api, after, limit),
    20,
    () => 30_000,
    [api],
  );
  return html`
    <div class="card stacked">
      <h2>Callbacks that have not arrived</h2>
      <${State} of=${list} />
      ${list.value && list.rows.length === 0 && html`<p>None.</p>`}
      <ul class="lines">
        ${list.rows.map((row) => html`<${Message} key=${row.id} ...${{ api, row }} onSent=${list.refresh} />`)}
      </ul>
      <${MoreButton} load=${list.load} />
    </div>
  `;
}

function Message({ api, row, onSent }) {
  const { id, state, next_at: next, last_attempt: last } = row;
  return html`<li>
    <a href=${`#/tasks/${id}`}>Task …${id.slice(-6)}</a>
    <span>${words[state]}${last?.error ? `: ${last.error}` : ''}
      ${next ? ` · next ${clock(next)}` : ''}</span>
    <${SendAgain} look="quiet" send=${() => api.resend(id)} ...${{ onSent }} />
  </li>`;
}
