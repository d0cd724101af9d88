// Parts of all views: texts from outside, times, filters, and the states of a view.

import { SaveButton, Text } from '../controls.js';
import { Foreign } from '../foreign.js';
import { fromNow } from '../format.js';
import { MoreButton } from '../pagination.js';
import { html, useEffect, useLayoutEffect, useState } from '../preact.js';
import { filter } from './route.js';

export { Foreign, printable } from '../foreign.js';
export { Lost, State } from '../state.js';
export { Table } from '../table.js';

/** JSON with its lines. It is escaped, not changed, so that it can be copied. */
export function ForeignJson({ value }) {
  const escaped = (text) =>
    [...text].map((one) => `\\u${one.codePointAt(0).toString(16).padStart(4, '0')}`).join('');
  return html`<bdi>${JSON.stringify(value, null, 2).replace(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escaped)}</bdi>`;
}

/**
 * A moment in UTC. Its tooltip says it in the zone of the browser, and how far it is from now; `isNear`:
 * the page says that too.
 */
export function Time({ at, isNear }) {
  if (!at) return '–';
  const local = new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
  return html`<time datetime=${at} title=${`${local}, ${fromNow(at)}`}>
    ${`${at.slice(0, 10)} ${at.slice(11, 19)}Z`}</time>${isNear && html` <span class="whole">(${fromNow(at)})</span>`}`;
}

export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows
      .filter(Boolean)
      .map(
        ([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value ?? '–'}</dd></div>`,
      )}
  </dl>`;
}

const customerAnchor = (id, name, title) =>
  html`<a href=${`#/customers/${encodeURIComponent(id)}`} title=${title}>
    <${Foreign} text=${name || id} /></a>`;

export const customerLink = (id, name) =>
  id
    ? html`${customerAnchor(id, name)}
      ${name && html` <code><${Foreign} text=${id} /></code>`}`
    : '–';

/** A key of a customer, which leads to all its keys. */
export const keyLink = ({ accountId, keyId, keyName }) =>
  html`<a href=${`#/customers/${encodeURIComponent(accountId)}?tab=keys`}>
      <${Foreign} text=${keyName || keyId} /></a>
    ${keyName && html` <code>${keyId}</code>`}`;

/** The customer of a row in a list: its name, with its id as the tooltip. */
export const customerOf = ({ accountId, accountName }) =>
  accountId ? customerAnchor(accountId, accountName, accountId) : '–';

export const taskLink = (id) =>
  id && html`<a class="whole" href=${`#/tasks/${id}`}>…${id.slice(-6)}</a>`;

/** A typed filter counts when the field is left, or with Enter. */
export function Filter({ name, label, hint, query, view }) {
  const [value, setValue] = useState(query.get(name) ?? '');
  // In the layout: later it could remove what somebody has typed meanwhile.
  useLayoutEffect(() => setValue(query.get(name) ?? ''), [query.get(name)]);
  return html`<form onSubmit=${(event) => event.preventDefault()}>
    <${Text} ...${{ label, name, value }} placeholder=${hint} onValue=${setValue}
      onChange=${() => filter(view, query, name, value.trim())} />
  </form>`;
}

/** Below a list: more of it, and all of it as a file once it is shown. */
export const ListActions = ({ list, ...csv }) => html`<p class="actions">
  <${MoreButton} load=${list.load} />
  ${list.value && !list.fault && html`<${CsvButton} ...${csv} />`}
</p>`;

/** Saves the whole list that is shown, or says why it is refused. */
export function CsvButton({ api, path, asked = {}, name = path.split('/').at(-1) }) {
  const search = new URLSearchParams({ ...asked, format: 'csv' });
  return html`<${SaveButton} key=${search} name=${`${name}.csv`} ask=${() => api.csv(`${path}?${search}`)} />`;
}

/** The plain video of a model of the catalogue. */
export const plainVideo = ({ duration, resolution, ratio }) =>
  `${duration} s ${resolution} ${ratio}`;

/** The filters of a list that are set. */
export const given = (query, names) =>
  Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));

export const titled = (word) => word[0].toUpperCase() + word.slice(1);

export function useTitle(title) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
}
