// The keys of the account. A key that manages keys can make and revoke others.

import { sentenceOf } from './api.js';
import { Checks, Secret, Text } from './controls.js';
import { clock } from './format.js';
import { useOnce, useRead } from './hooks.js';
import { html, useState } from './preact.js';
import { State } from './state.js';

export function KeysSection({ api, models }) {
  const list = useRead(api, '/v1/account/keys', null);
  const keys = list.value?.data ?? [];
  const own = keys.find(({ id }) => id === list.value.current);
  return html`
    <section aria-label="Keys" class="section">
      <${State} of=${list} />
      ${
        own &&
        (own.manages_keys
          ? html`<${MakeKey} ...${{ api, models }} onChanged=${list.refresh} />`
          : html`<p class="notice">This key cannot make or revoke keys. Ask the operator for one that
            can.</p>`)
      }
      <ul class="cards">
        ${keys.map(
          (key) =>
            html`<${Key} key=${key.id} ...${{ api, of: key, own }} onChanged=${list.refresh} />`,
        )}
      </ul>
    </section>
  `;
}

function endOf({ revoked_at: revoked, expires_at: expires }) {
  if (revoked) return `revoked ${clock(revoked)}`;
  if (!expires) return 'without an end';
  return `${expires * 1000 < Date.now() ? 'expired' : 'until'} ${clock(expires)}`;
}

function Key({ api, of: key, own, onChanged }) {
  const [fault, setFault] = useState('');
  const isOwn = key.id === own?.id;
  const revoke = () => {
    if (!confirm('Revoke the key? It is refused within 30 seconds.')) return;
    void api
      .remove(`/v1/account/keys/${key.id}`)
      .catch((error) => setFault(error.message))
      .then(onChanged);
  };
  return html`<li class="card">
    <p class="named"><bdi>${key.name || 'without a name'}</bdi> <code>…${key.last_four}</code>
      ${isOwn && html` <span class="badge">this key</span>`}
      ${key.manages_keys && html` <span class="badge">manages keys</span>`}
      ${key.revoked_at && html` <span class="badge failed">revoked</span>`}</p>
    <p class="small">${key.models ? key.models.join(', ') : 'all models'} · ${endOf(key)} · made${' '}
      ${key.made_by ? `by …${key.made_by.slice(-4)}` : 'by the operator'}, ${clock(key.created_at)}</p>
    <p class="small"><code>${key.id}</code></p>
    ${
      own?.manages_keys &&
      !isOwn &&
      !key.revoked_at &&
      html`<p><button type="button" class="danger" onClick=${revoke}>Revoke</button></p>`
    }
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
  </li>`;
}

const ifLost =
  'The key may have been made. If the list has it, revoke it and make another: it is not shown again.';

function MakeKey({ api, models, onChanged }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState([]);
  const [until, setUntil] = useState('');
  const [made, setMade] = useState(null);
  const [fault, setFault] = useState('');
  const [isBusy, once] = useOnce();
  const make = async () => {
    setFault('');
    const limits = {
      ...(chosen.length > 0 ? { models: chosen } : {}),
      ...(until ? { expires_at: Math.floor(new Date(`${until}T00:00`).getTime() / 1000) } : {}),
    };
    try {
      setMade(await api.post('/v1/account/keys', { name, ...limits }));
      setName('');
    } catch (error) {
      setFault(sentenceOf(error, ifLost));
    }
    onChanged();
  };
  const submit = (event) => {
    event.preventDefault();
    void once(make);
  };
  return html`
    <form class="card stacked" onSubmit=${submit} novalidate>
      <h2>Make a key</h2>
      <${Text} label="Name" name="name" value=${name} onValue=${setName} maxlength="200" />
      <${Text} label="Refused from" hint="empty: as this key" name="until" type="date" value=${until}
        onValue=${setUntil} />
      <${Checks} label="Models" hint="none chosen: all of this key" chosen=${chosen}
        options=${(models ?? []).map(({ id }) => [id, id])} onValue=${setChosen} />
      <p><button class="button" disabled=${isBusy || !name.trim()}>${isBusy ? 'Making…' : 'Make'}</button></p>
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
      ${made && html`<${Secret} note="The key is not shown again." text=${made.key} />`}
    </form>
  `;
}
