// The operators, for owners: a new one, another key, their end, and the open sessions.

import { html } from '../../preact.js';
import { Part } from '../customer/part.js';
import { AskWhy, FormDialog, filled, Secrets } from '../dialog.js';
import { Foreign, Table, Time } from '../parts.js';

const expires = {
  name: 'expires',
  label: 'Refused from',
  hint: 'such as 2027-01-31; empty: as now',
};

export function Operators({ api }) {
  return html`
    <${Part} title="Operators" path="/operators" api=${api}
      actions=${(refresh) => html`<${NewOperator} ...${{ api, refresh }} />`}>
      ${(operators, refresh) => html`<${Table} label="Operators" rows=${operators}
        keyOf=${({ operatorId }) => operatorId}
        columns=${[
          ['Name', ({ name }) => html`<${Foreign} text=${name} />`],
          ['Role', ({ role }) => role],
          ['Key ends in', ({ lastFour }) => html`<code>${lastFour}</code>`],
          ['Created', ({ createdAt }) => html`<${Time} at=${createdAt} />`],
          ['Expires', ({ expiresAt }) => html`<${Time} at=${expiresAt} />`],
          ['Disabled', ({ disabledAt }) => disabledAt && html`<${Time} at=${disabledAt} />`],
          ['Act', (one) => !one.disabledAt && html`<${Acts} ...${{ api, refresh }} of=${one} />`],
        ]} />`}
    </${Part}>
    <${Part} title="Open sessions" path="/operators/sessions" api=${api}>
      ${(sessions) =>
        sessions.length === 0
          ? html`<p>Nobody is signed in with a browser.</p>`
          : html`<${Table} label="Open sessions" rows=${sessions}
              keyOf=${({ operatorId, createdAt }) => `${operatorId} ${createdAt}`}
              columns=${[
                ['Name', ({ name }) => html`<${Foreign} text=${name} />`],
                ['Role', ({ role }) => role],
                ['Signed in', ({ createdAt }) => html`<${Time} at=${createdAt} />`],
                ['Seen', ({ seenAt }) => html`<${Time} at=${seenAt} />`],
              ]} />`}
    </${Part}>
  `;
}

/** Sends the form, and shows the key in the answer. */
const keyFrom = (api, path, refresh) => async (values) => {
  const { data } = await api.post(path, filled(values));
  refresh();
  return html`<${Secrets} rows=${[[`Key of ${data.name}`, data.key]]} />`;
};

function NewOperator({ api, refresh }) {
  return html`<${FormDialog} title="New operator" label="New operator" asksWhy=${true}
    note="The key is shown once."
    fields=${[
      { name: 'name', label: 'Name', hint: 'stands in the log', isRequired: true },
      {
        ...{ name: 'role', label: 'Role', value: 'viewer' },
        options: ['viewer', 'operator', 'owner'].map((role) => [role, role]),
      },
      { ...expires, hint: 'such as 2027-01-31; empty: never' },
    ]}
    act=${keyFrom(api, '/operators', refresh)} />`;
}

function Acts({ api, of: { operatorId, name }, refresh }) {
  const path = `/operators/${encodeURIComponent(operatorId)}`;
  return html`<div class="actions">
    <${FormDialog} title=${`Another key for ${name}`} label="Renew key" asksWhy=${true}
      note="The old key and its sessions end at once. The new key is shown once." fields=${[expires]}
      act=${keyFrom(api, `${path}/key`, refresh)} />
    <${AskWhy} title=${`Disable ${name}`} label="Disable" isDanger=${true}
      note="Its key is refused at once and its sessions end. This cannot be undone."
      act=${async (why) => {
        await api.post(`${path}/disable`, { why });
        refresh();
      }} />
  </div>`;
}
