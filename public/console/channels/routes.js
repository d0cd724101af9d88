// What a create would cost through each channel. It is planned as a create is, and nothing is stored.

import { Text } from '../../controls.js';
import { exactMoney } from '../../format.js';
import { html, useState } from '../../preact.js';
import { Foreign, Table } from '../parts.js';

const example = '{\n  "model": "",\n  "prompt": "A lighthouse in the rain"\n}';

export function Routes({ api, currency }) {
  const [body, setBody] = useState(example);
  const [account, setAccount] = useState('');
  const [key, setKey] = useState('');
  const [answer, setAnswer] = useState(null);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setFault('');
    setAnswer(null);
    try {
      const named = { ...(account ? { account } : {}), ...(key ? { key } : {}) };
      setAnswer((await api.post('/routes', { body, ...named })).data);
    } catch (error) {
      setFault(error.message);
    }
    setBusy(false);
  };
  return html`<section class="card" aria-label="What would this create cost">
    <h2>What would this create cost</h2>
    <form class="stack" onSubmit=${submit} novalidate>
      <${Text} label="Body of the create" name="body" rows="5" value=${body} onValue=${setBody}
        fault=${fault} spellcheck="false" class="code" />
      <div class="filters">
        <${Text} label="Customer" name="account" placeholder="id or name" value=${account} onValue=${setAccount} />
        <${Text} label="Key" name="key" placeholder="its id" value=${key} onValue=${setKey} />
      </div>
      <p><button class="button" disabled=${busy}>${busy ? '…' : 'Plan it'}</button></p>
    </form>
    ${answer && html`<${Answer} ...${{ answer, currency }} />`}
  </section>`;
}

function Answer({ answer, currency }) {
  const { refusals, hold, routes } = answer;
  if (refusals.length > 0) {
    return html`<ul class="faults" role="status">
      ${refusals.map(
        ({ code, message }) =>
          html`<li key=${message} class="fault"><${Foreign} text=${`${code}: ${message}`} /></li>`,
      )}
    </ul>`;
  }
  const amount = (value) => (value === null ? 'not known' : exactMoney(value));
  return html`
    <p role="status">The create would hold ${exactMoney(hold, currency)}. Nothing was stored.</p>
    <${Table} label="Routes" rows=${routes}
      keyOf=${({ channel, upstreamModel }) => `${channel} ${upstreamModel}`}
      columns=${[
        ['Channel', ({ channel }) => html`<${Foreign} text=${channel} />`],
        ['Allowed', ({ refused }) => refused ?? 'yes'],
        ['Charged', ({ charged }) => amount(charged), true],
        ['Cost', ({ cost }) => amount(cost), true],
        ['Margin', ({ margin }) => amount(margin), true],
        ['Slots', ({ slotsUsed, slotsMax }) => `${slotsUsed} of ${slotsMax ?? 'any number'}`],
        ['Health', ({ health }) => health],
        ['Would it wait', ({ waits }) => waits ?? 'no'],
      ]} />
  `;
}
