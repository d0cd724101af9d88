// The webhooks of the account: list, add, test, delete; and the callbacks of the newest tasks that have
// not arrived.

import { Checks, Secret, Text } from './controls.js';
import { clock } from './format.js';
import { usePolled, useRead } from './hooks.js';
import { html, useState } from './preact.js';

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
      ${list.fault && html`<p class="fault" role="alert">${list.fault.message}</p>`}
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
  const [busy, setBusy] = useState(false);
  const act = async (work) => {
    setBusy(true);
    setSaid('');
    await work().catch((error) => setSaid(error.message));
    setBusy(false);
  };
  const test = () =>
    act(async () => {
      const { status, latency_ms: ms, error } = await api.post(`/v1/webhooks/${hook.id}/test`);
      setSaid(error ? `Not taken: ${error}` : `Taken with ${status} in ${ms} ms.`);
    });
  const remove = () => {
    if (!confirm('Delete the webhook? Its messages that have not arrived are stopped.')) return;
    void act(async () => {
      await api.remove(`/v1/webhooks/${hook.id}`);
      onChanged();
    });
  };
  return html`<li class="card">
    <p class="named"><bdi>${hook.url}</bdi></p>
    <p class="small">${hook.events.join(', ')} · since ${clock(hook.created_at)}</p>
    <p class="actions">
      <button type="button" class="button" disabled=${busy} onClick=${test}>
        ${busy ? 'Waiting…' : 'Send a test'}</button>
      <button type="button" class="danger" disabled=${busy} onClick=${remove}>Delete</button>
    </p>
    ${said && html`<p class="small" role="status">${said}</p>`}
  </li>`;
}

function AddHook({ api, onChanged }) {
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState(['succeeded', 'failed']);
  const [made, setMade] = useState(null);
  const [fault, setFault] = useState('');
  const submit = async (event) => {
    event.preventDefault();
    setFault('');
    try {
      setMade(await api.post('/v1/webhooks', { url, events: chosen }));
      setUrl('');
      onChanged();
    } catch (error) {
      setFault(error.message);
    }
  };
  return html`
    <form class="card stacked" onSubmit=${submit} novalidate>
      <h2>Add a webhook</h2>
      <${Text} label="Address" name="url" type="url" placeholder="https://" value=${url}
        onValue=${setUrl} fault=${fault} />
      <${Checks} label="Events" chosen=${chosen} options=${events} onValue=${setChosen} />
      <p><button class="button" disabled=${!url.trim() || chosen.length === 0}>Add</button></p>
      ${
        made &&
        html`<${Secret} note="This secret signs its messages, and is not shown again."
          text=${made.secret} />`
      }
    </form>
  `;
}

const newest = 20;
const words = {
  pending: 'still tried',
  exhausted: 'given up',
  stopped: 'stopped',
};

/** The API has no list of callbacks, so those of the newest tasks are read one by one. */
async function askUndelivered(api) {
  const { data } = await api.get(`/v1/tasks?limit=${newest}`);
  const ended = data.filter(({ finished_at: at }) => at !== undefined);
  const read = ended.map(async ({ id }) => ({ id, ...(await api.callbacks(id)) }));
  const found = await Promise.all(read);
  return found.filter(({ state }) => Object.hasOwn(words, state));
}

function Undelivered({ api }) {
  const { value, refresh } = usePolled(
    () => askUndelivered(api),
    () => 30_000,
    [api],
  );
  const [fault, setFault] = useState('');
  const resend = (id) => () => {
    setFault('');
    api.resend(id).then(refresh, (error) => setFault(error.message));
  };
  return html`
    <div class="card stacked">
      <h2>Callbacks that have not arrived</h2>
      <p class="small">Of the newest ${newest} tasks.</p>
      ${value?.length === 0 && html`<p>None.</p>`}
      <ul class="lines">
        ${(value ?? []).map(
          ({ id, state, next_at: next, data }) => html`<li key=${id}>
            <a href=${`#/tasks/${id}`}>Task …${id.slice(-6)}</a>
            <span>${words[state]}${data.at(-1)?.error ? `: ${data.at(-1).error}` : ''}
              ${next ? ` · next ${clock(next)}` : ''}</span>
            <button type="button" class="quiet" onClick=${resend(id)}>Send again</button>
          </li>`,
        )}
      </ul>
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    </div>
  `;
}
