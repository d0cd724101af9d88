// The webhooks of a customer, and its callbacks: those that were given up come first.

import { MoreButton } from '../../pagination.js';
import { html, useRef, useState } from '../../preact.js';
import { SendAgain } from '../../send-again.js';
import { dayIn, daysBefore } from '../../stacks.js';
import { FormDialog, Secrets } from '../dialog.js';
import { CsvButton, customerOf, Foreign, State, Table, Time, taskLink } from '../parts.js';
import { useList, withId } from '../use-list.js';
import { Part } from './part.js';

const everyMs = 10_000;

export const callbackStates = [
  ['exhausted', 'Given up', 'No callback was given up.'],
  ['pending', 'To be sent', 'None waits to be sent.'],
  ['stopped', 'Stopped', 'None was stopped.'],
  ['delivered', 'Delivered', 'None was delivered yet.'],
];

export function CallbacksTab({ api, may, account, path }) {
  const { accountId } = account;
  const lists = useRef({});
  // What is sent again moves from one list to another.
  const reread = () => {
    for (const refresh of Object.values(lists.current)) refresh();
  };
  return html`
    <${Webhooks} ...${{ api, may, path }} />
    ${callbackStates.map(
      ([state, title, none]) =>
        html`<${Callbacks} key=${state} ...${{ api, may, path, accountId, state, title, none, lists, reread }} />`,
    )}
  `;
}

function Webhooks({ api, may, path }) {
  const rotate = () => html`<${FormDialog} title="Replace the secret of named addresses"
    label="Replace secret" asksWhy=${true}
    note="It signs the callbacks of tasks that name an address. The older secrets sign too until the overlap ends."
    fields=${[{ name: 'overlap', label: 'Overlap', hint: 'such as 24h', value: '24h' }]}
    act=${async (values) => {
      const { data } = await api.post(`${path}/secret`, values);
      return html`<${Secrets} rows=${[['Webhook secret', data.webhookSecret]]} />`;
    }} />`;
  const actions = () => may.own && rotate();
  return html`<${Part} title="Webhooks" path=${`${path}/webhooks`} ...${{ api, actions }}>
    ${(webhooks) =>
      webhooks.length === 0
        ? html`<p>It has no webhook. Its tasks may name an address themselves.</p>`
        : html`<${Table} label="Webhooks" rows=${webhooks} keyOf=${({ webhookId }) => webhookId}
            columns=${[
              ['Address', ({ url }) => html`<${Foreign} text=${url} />`],
              ['Events', ({ events }) => events.join(', ')],
              ['Created', ({ createdAt }) => html`<${Time} at=${createdAt} />`],
              may.act && [
                'Test',
                ({ webhookId }) => html`<${TestButton} ...${{ api, webhookId }} />`,
              ],
            ]} />`}
  </${Part}>`;
}

function TestButton({ api, webhookId }) {
  const [said, setSaid] = useState('');
  const test = async () => {
    setSaid('…');
    try {
      const { data } = await api.post(`/webhooks/${encodeURIComponent(webhookId)}/test`, {});
      const { status, latencyMs, error } = data;
      setSaid(error ? `Failed: ${error}` : `Answered ${status} in ${latencyMs} ms`);
    } catch (error) {
      setSaid(error.message);
    }
  };
  return html`<button type="button" class="button" disabled=${said === '…'} onClick=${test}>Send a test</button>
    ${' '}<span role="status"><${Foreign} text=${said} /></span>`;
}

/** Those in one state; without an account those of all customers. */
export function Callbacks({ api, may, path, accountId, state, title, none, lists, reread }) {
  const asked = { ...(accountId && { account: accountId }), state };
  const list = useList(api, '/callbacks', {
    ...{ asked, size: 20, everyMs },
    rowsOf: withId('taskId'),
  });
  const { rows } = list;
  lists.current[state] = list.refresh;
  return html`<section class="card" aria-label=${title}>
    <div class="head">
      <h2>${title}</h2>
      ${accountId && state === 'exhausted' && may.act && html`<${ResendFailed} ...${{ api, path, refresh: reread }} />`}
      ${rows.length > 0 && html`<${CsvButton} path="/callbacks" ...${{ api, asked }} />`}
    </div>
    <${State} of=${list} />
    ${
      list.value &&
      (rows.length === 0
        ? html`<p>${none}</p>`
        : html`<${Table} label=${title} rows=${rows} keyOf=${({ taskId }) => taskId}
            columns=${[
              ['Task', ({ taskId }) => taskLink(taskId)],
              !accountId && ['Customer', customerOf],
              ['Address', ({ url }) => html`<${Foreign} text=${url} />`],
              ['Deliveries', ({ deliveries }) => deliveries, true],
              state === 'pending' && ['Next', ({ nextAt }) => html`<${Time} at=${nextAt} />`],
              ['Changed', ({ changedAt }) => html`<${Time} at=${changedAt} />`],
              may.act &&
                state !== 'pending' && [
                  'Act',
                  ({ taskId }) => html`<${ResendButton} ...${{ api, taskId, refresh: reread }} />`,
                ],
            ]} />`)
    }
    <${MoreButton} load=${list.load} />
  </section>`;
}

/** Sends the callback of a task again. */
export function ResendButton({ api, taskId, refresh }) {
  const send = () => api.post(`/callbacks/${encodeURIComponent(taskId)}/resend`, {});
  return html`<${SendAgain} send=${send} onSent=${refresh} />`;
}

function ResendFailed({ api, path, refresh }) {
  // The evening before counts too, shortly after midnight.
  const yesterday = daysBefore(dayIn('UTC'), 1);
  return html`<${FormDialog} title="Send again what was given up" label="Send all again" asksWhy=${true}
    note="At most 1,000 at once, the earliest first. Receivers recognise a repeat by its id."
    fields=${[
      {
        ...{ name: 'since', label: 'Given up since', hint: 'a day, or a moment in UTC' },
        ...{ value: yesterday, isRequired: true },
      },
    ]}
    act=${async (values) => {
      const { data } = await api.post(`${path}/callbacks/resend`, values);
      refresh();
      return html`<p>
        ${`Sent again: ${data.sent}. Without a webhook: ${data.withoutWebhook}.`}
        ${data.areMore && ' There are more: send them after these.'}
      </p>`;
    }} />`;
}
