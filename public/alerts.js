// The alerts of the account: the limit of its balance, and the messages that were sent.

import { Text } from './controls.js';
import { clock, exactMoney } from './format.js';
import { useRead } from './hooks.js';
import { html, useState } from './preact.js';
import { State } from './state.js';

const titles = {
  'balance.low': 'The balance is low',
  'budget.near': 'A budget is at 80%',
  'budget.reached': 'A budget is reached',
};

const states = {
  pending: 'being sent',
  delivered: 'delivered',
  exhausted: 'given up',
  stopped: 'stopped',
};

export function AlertsSection({ api, currency }) {
  const list = useRead(api, '/v1/account/alerts', 15_000);
  const hooks = useRead(api, '/v1/webhooks', null);
  const { value } = list;
  // A new limit makes a new form.
  const [said, setSaid] = useState('');
  const isHeard = hooks.value?.data.some(({ events }) => events.some((one) => titles[one]));
  return html`
    <section aria-label="Alerts" class="section">
      <${State} of=${list} />
      ${
        isHeard === false &&
        html`<p class="notice">No webhook takes alerts yet. <a href="#/account/webhooks">Add one</a>${' '}
          with the events that you want.</p>`
      }
      ${
        value &&
        html`<${Limit} key=${value.below} ...${{ api, below: value.below, currency }}
          ...${{ said, setSaid }} onChanged=${list.refresh} />`
      }
      ${value && html`<${Sent} alerts=${value.data} />`}
    </section>
  `;
}

function Sent({ alerts }) {
  return html`
    <div class="card stacked">
      <h2>Sent</h2>
      ${alerts.length === 0 && html`<p>Nothing yet.</p>`}
      <ul class="lines">
        ${alerts.map(
          ({ id, type, created_at: at, state, error, data }) => html`<li key=${id}>
            <span class="when">${clock(at)}</span>
            <span>${titles[type]}: ${detail(data)}</span>
            <span>${states[state]}${error ? `, ${error}` : ''}</span>
          </li>`,
        )}
      </ul>
    </div>
  `;
}

function detail({ available, below, period, limit, spent, held, key_id: key, currency }) {
  if (below) return `${exactMoney(available, currency)} available, below ${exactMoney(below)}`;
  return `${key ?? 'all keys'}, ${period}: ${exactMoney(spent)} spent and ${exactMoney(held)} held of ${exactMoney(limit, currency)}`;
}

function Limit({ api, below, currency, said, setSaid, onChanged }) {
  const [text, setText] = useState(below ?? '');
  const [fault, setFault] = useState('');
  const set = (value) => {
    setFault('');
    setSaid('');
    api.post('/v1/account/alerts', { below: value }).then(
      () => {
        setSaid(value === null ? 'No alert about the balance.' : 'Set.');
        onChanged();
      },
      (error) => setFault(error.message),
    );
  };
  const submit = (event) => {
    event.preventDefault();
    set(text.trim());
  };
  return html`
    <form class="card stacked" onSubmit=${submit} novalidate>
      <h2>Balance</h2>
      <${Text} label="Say when less is available than" hint=${currency} name="below"
        inputmode="decimal" placeholder="20.00" value=${text} onValue=${setText} fault=${fault} />
      <p class="actions">
        <button class="button" disabled=${!text.trim()}>Set</button>
        ${
          below !== null &&
          html`<button type="button" class="quiet" onClick=${() => set(null)}>Remove</button>`
        }
      </p>
      ${said && html`<p class="small" role="status">${said}</p>`}
    </form>
  `;
}
