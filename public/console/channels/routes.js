// What a create would cost through each channel. It is planned as a create is, and nothing is stored.

import { Text } from '../../controls.js';
import { exactMoney } from '../../format.js';
import { html, useState } from '../../preact.js';
import { Foreign } from '../parts.js';

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
    try {
      const named = { ...(account ? { account } : {}), ...(key ? { key } : {}) };
      setAnswer((await api.post('/routes', { body, ...named })).data);
    } catch (error) {
      setAnswer(null);
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
    <table>
      <thead>
        <tr>
          <th>Channel</th><th>Allowed</th><th class="number">Charged</th><th class="number">Cost</th>
          <th class="number">Margin</th><th>Slots</th><th>Health</th><th>Would it wait</th>
        </tr>
      </thead>
      <tbody>
        ${routes.map(
          (route) => html`<tr key=${`${route.channel} ${route.upstreamModel}`}>
            <td data-label="Channel"><${Foreign} text=${route.channel} /></td>
            <td data-label="Allowed">${route.refused ?? 'yes'}</td>
            <td data-label="Charged" class="number">${amount(route.charged)}</td>
            <td data-label="Cost" class="number">${amount(route.cost)}</td>
            <td data-label="Margin" class="number">${amount(route.margin)}</td>
            <td data-label="Slots">${route.slotsUsed} of ${route.slotsMax ?? 'any number'}</td>
            <td data-label="Health">${route.health ?? '–'}</td>
            <td data-label="Would it wait">${route.waits ?? 'no'}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  `;
}
