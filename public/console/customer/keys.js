// The keys of a customer: what each may do, a new one, its rates, and its end. A key is shown once.

import { MoreButton } from '../../pagination.js';
import { html } from '../../preact.js';
import { AskWhy, FormDialog, filled, Secrets } from '../dialog.js';
import { Banner, CsvLink, Foreign, State, Table, Time } from '../parts.js';
import { useList, withId } from '../use-list.js';

const everyMs = 30_000;
const rates = [
  { name: 'createRate', label: 'Creates a second', hint: 'empty: as set' },
  { name: 'readRate', label: 'Reads a second', hint: 'empty: as set' },
];

export function KeysTab({ api, may, account: { accountId } }) {
  const asked = { account: accountId };
  const list = useList(api, '/keys', { asked, everyMs, rowsOf: withId('keyId') });
  const { refresh } = list;
  const words = (names) => (names ? html`<${Foreign} text=${names.join(', ')} />` : 'all');
  return html`
    ${may.act && html`<div class="actions"><${NewKey} ...${{ api, accountId, refresh }} /></div>`}
    <${Banner} lost=${list.lost} />
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
              ['Expires', ({ expiresAt }) => html`<${Time} at=${expiresAt} />`],
              ['Revoked', ({ revokedAt }) => revokedAt && html`<${Time} at=${revokedAt} />`],
              may.act && [
                'Act',
                (key) => !key.revokedAt && html`<${Acts} ...${{ api, refresh }} of=${key} />`,
              ],
            ]} />`)
    }
    <p class="actions">
      <${MoreButton} load=${list.load} />
      <${CsvLink} path="/keys" asked=${asked} />
    </p>
  `;
}

function NewKey({ api, accountId, refresh }) {
  const act = async (values) => {
    const { data } = await api.post('/keys', { account: accountId, ...filled(values) });
    refresh();
    return html`<${Secrets} rows=${[['API key', data.apiKey]]} />`;
  };
  return html`<${FormDialog} title="New key" label="New key" act=${act}
    note="The key is shown once. If the answer is lost, look in the list and revoke what you do not need."
    fields=${[
      { name: 'name', label: 'What it is for' },
      { name: 'models', label: 'Models', hint: 'with commas; empty: all' },
      { name: 'channels', label: 'Channels', hint: 'with commas; empty: all' },
      ...rates,
      { name: 'expires', label: 'Refused from', hint: 'such as 2027-01-31; empty: never' },
      { name: 'why', label: 'Why', hint: 'for the log of operators, optional' },
    ]} />`;
}

function Acts({ api, of: { keyId, lastFour, createRate, readRate }, refresh }) {
  const path = `/keys/${encodeURIComponent(keyId)}`;
  const old = { createRate: String(createRate ?? ''), readRate: String(readRate ?? '') };
  return html`<div class="actions">
    <${FormDialog} title=${`Rates of the key …${lastFour}`} label="Rates" asksWhy=${true}
      fields=${rates.map((field) => ({ ...field, value: old[field.name] }))}
      act=${async (values) => {
        await api.post(`${path}/terms`, {
          ...{ createRate: values.createRate || 'none', readRate: values.readRate || 'none' },
          why: values.why,
        });
        refresh();
      }} />
    <${AskWhy} title=${`Revoke the key …${lastFour}`} label="Revoke" isDanger=${true}
      note="It is refused within 30 seconds, for ever. Its tasks go on."
      act=${async (why) => {
        await api.post(`${path}/revoke`, { why });
        refresh();
      }} />
  </div>`;
}
