// The keys of a customer: what each may do, a new one, its rates and rights, and its end with or without
// that of the keys it made. A key is shown once.

import { html } from '../../preact.js';
import { changeTerms, FormDialog, filled, Secrets } from '../dialog.js';
import { Foreign, ListActions, State, Table, Time } from '../parts.js';
import { useList, withId } from '../use-list.js';

const everyMs = 30_000;
const rates = [
  { name: 'createRate', label: 'Creates a second', hint: 'empty: as set' },
  { name: 'readRate', label: 'Reads a second', hint: 'empty: as set' },
];
const manages = {
  ...{ name: 'managesKeys', label: 'May make and revoke keys', value: 'no' },
  options: [
    ['no', 'no'],
    ['yes', 'yes, of this customer'],
  ],
};

export function KeysTab({ api, may, account: { accountId } }) {
  const asked = { account: accountId };
  const list = useList(api, '/keys', { asked, everyMs, rowsOf: withId('keyId') });
  const { refresh } = list;
  const words = (names) => (names ? html`<${Foreign} text=${names.join(', ')} />` : 'all');
  return html`
    ${may.act && html`<div class="actions"><${NewKey} ...${{ api, accountId, refresh }} /></div>`}
    <${State} of=${list} />
    ${
      list.value &&
      (list.rows.length === 0
        ? html`<p class="nothing">It has no key, so it cannot call the API.</p>`
        : html`<${Table} label="Keys" rows=${list.rows} keyOf=${({ keyId }) => keyId}
            columns=${[
              ['Name', ({ name }) => html`<${Foreign} text=${name || '–'} />`],
              ['Id', ({ keyId }) => html`<code>${keyId}</code>`],
              ['Ends in', ({ lastFour }) => html`<code>${lastFour}</code>`],
              ['Models', ({ models }) => words(models)],
              ['Channels', ({ channels }) => words(channels)],
              ['Creates/s', ({ createRate }) => createRate ?? 'as set', true],
              ['Reads/s', ({ readRate }) => readRate ?? 'as set', true],
              ['Manages keys', ({ managesKeys }) => (managesKeys ? 'yes' : null)],
              ['Made by', ({ madeBy }) => madeBy && html`<code>${madeBy}</code>`],
              ['Expires', ({ expiresAt }) => html`<${Time} at=${expiresAt} />`],
              ['Revoked', ({ revokedAt }) => revokedAt && html`<${Time} at=${revokedAt} />`],
              may.act && [
                'Act',
                (key) =>
                  (!key.revokedAt || key.made > 0) &&
                  html`<${Acts} ...${{ api, refresh }} of=${key} />`,
              ],
            ]} />`)
    }
    <${ListActions} list=${list} path="/keys" ...${{ api, asked }} />
  `;
}

function NewKey({ api, accountId, refresh }) {
  const act = async ({ managesKeys, ...values }) => {
    const rights = { account: accountId, managesKeys: managesKeys === 'yes' };
    const { data } = await api.post('/keys', { ...rights, ...filled(values) });
    refresh();
    return html`<${Secrets} rows=${[['API key', data.apiKey]]} />`;
  };
  return html`<${FormDialog} title="New key" label="New key" asksWhy=${true} act=${act}
    note="The key is shown once. If the answer is lost, look in the list and revoke what you do not need."
    fields=${[
      { name: 'name', label: 'What it is for' },
      { name: 'models', label: 'Models', hint: 'with commas; empty: all' },
      { name: 'channels', label: 'Channels', hint: 'with commas; empty: all' },
      ...rates,
      { name: 'expires', label: 'Refused from', hint: 'such as 2027-01-31; empty: never' },
      manages,
    ]} />`;
}

function Acts({ api, of: key, refresh }) {
  const shared = { api, of: key, refresh, path: `/keys/${encodeURIComponent(key.keyId)}` };
  return html`<div class="actions">
    ${!key.revokedAt && html`<${Terms} ...${shared} />`}
    <${Revoke} ...${shared} />
  </div>`;
}

function Terms({ api, path, of: { lastFour, createRate, readRate, managesKeys }, refresh }) {
  const now = {
    ...{ createRate: String(createRate ?? ''), readRate: String(readRate ?? '') },
    managesKeys: managesKeys ? 'yes' : 'no',
  };
  return html`<${FormDialog} title=${`Rates and rights of the key …${lastFour}`} asksWhy=${true}
    label="Rates and rights"
    fields=${() => [...rates, manages].map((field) => ({ ...field, value: now[field.name] }))}
    act=${changeTerms({ api, path, refresh })} />`;
}

/** A revoked key keeps the button while keys that it made still work. */
function Revoke({ api, path, of: { lastFour, revokedAt, made }, refresh }) {
  const isRevoked = revokedAt !== null;
  const withMade = {
    ...{ name: 'withMade', label: 'What is revoked', value: 'false' },
    options: [
      ['false', 'this key only'],
      ['true', `this key and those it made that still work: ${made}`],
    ],
  };
  const act = async ({ why, ...values }) => {
    const isWithMade = isRevoked || values.withMade === 'true';
    const { data } = await api.post(`${path}/revoke`, { why, withMade: isWithMade });
    refresh();
    if (data.made === 0) return undefined;
    return html`<p>The key is revoked. Keys that it made still work: ${data.made}. The button in
      its row revokes them.</p>`;
  };
  return html`<${FormDialog} isDanger=${true} asksWhy=${true} act=${act}
    label=${isRevoked ? 'Revoke its keys' : 'Revoke'}
    title=${isRevoked ? `Revoke the keys that …${lastFour} made` : `Revoke the key …${lastFour}`}
    fields=${() => (isRevoked || made === 0 ? [] : [withMade])}
    note=${
      isRevoked
        ? `Keys that it made still work: ${made}. They are refused within 30 seconds, for ever.`
        : 'It is refused within 30 seconds, for ever. Its tasks go on.'
    } />`;
}
