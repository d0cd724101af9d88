// The search box of the header, and the list of what it found. One result opens at once. Of a pasted key
// only the last four characters leave the browser, of links and other secrets nothing.

import { usePolled } from '../hooks.js';
import { html, useEffect, useRef, useState } from '../preact.js';
import { customerOf, Foreign, State, Table, useTitle } from './parts.js';

const keys = /\bv[ko]_[\w-]{5,}/gi;
const secrets = /whsec_\S*|^\s*https?:\/\/\S*/gi;

/** Keys, secrets of webhooks and links to files stay in the browser. Nothing is found by the latter two. */
const withoutSecrets = (text) =>
  text
    .replace(secrets, '')
    .replace(keys, (key) => key.slice(-4))
    .trim();

const typedIn = 'input, textarea, select, dialog[open] *';

export function SearchBox() {
  const field = useRef(null);
  const [text, setText] = useState('');
  useEffect(() => {
    const pressed = (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest?.(typedIn)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  const submit = (event) => {
    event.preventDefault();
    const asked = withoutSecrets(text);
    if (!text.trim()) return;
    location.hash = `#/find?${new URLSearchParams({ q: asked, open: '1' })}`;
    setText('');
    field.current?.blur();
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <input ref=${field} type="search" name="q" aria-label="Search" placeholder="Search ( / )"
      autocomplete="off" spellcheck="false" value=${text}
      onInput=${(event) => setText(event.currentTarget.value)}
      onPaste=${(event) => {
        const pasted = event.clipboardData?.getData('text') ?? '';
        if (withoutSecrets(pasted) === pasted.trim()) return;
        event.preventDefault();
        const rest = withoutSecrets(pasted);
        if (rest) setText(rest);
        else location.hash = '#/find';
      }} />
  </form>`;
}

const pages = {
  task: ({ id }) => `tasks/${encodeURIComponent(id)}`,
  account: ({ id }) => `customers/${encodeURIComponent(id)}`,
  key: ({ accountId }) => `customers/${encodeURIComponent(accountId)}?tab=keys`,
  webhook: ({ accountId }) => `customers/${encodeURIComponent(accountId)}?tab=webhooks`,
  file: ({ accountId }) => `customers/${encodeURIComponent(accountId)}`,
};

export function FindPage({ api, query }) {
  const q = withoutSecrets(query.get('q') ?? '');
  useTitle('Search');
  const shown = usePolled(
    async () => (q ? api.get(`/find?${new URLSearchParams({ q })}`) : { data: [] }),
    () => null,
    [api, q],
  );
  const found = shown.value?.data;
  useEffect(() => {
    const [only, ...others] = found ?? [];
    // The list is left out of the history, so that the back button leads past it.
    if (query.get('open') && only && others.length === 0) {
      location.replace(`#/${pages[only.kind](only)}`);
    }
  }, [shown.value]);
  return html`
    <main>
      <h1>Search</h1>
      ${q ? html`<p>For <${Foreign} text=${q} /></p>` : html`<p>Links and secrets are not searched for: they stay in your browser.</p>`}
      <${State} of=${shown} />
      ${q && found && (found.length === 0 ? html`<${Nothing} />` : html`<${Found} found=${found} />`)}
    </main>
  `;
}

function Nothing() {
  return html`<p class="nothing">
    Nothing has this id or name. Search for the id of a task, a job upstream, a customer, a key, a file
    or a webhook, for a customer's name, for the last four characters of a key, or for a customer's id,
    a space and its Idempotency-Key.
  </p>`;
}

function Found({ found }) {
  return html`<${Table} label="Found" rows=${found} keyOf=${({ kind, id, as }) => `${kind} ${id} ${as}`}
    columns=${[
      ['What', ({ kind }) => kind],
      [
        'Id',
        (one) => html`<a href=${`#/${pages[one.kind](one)}`}><${Foreign} text=${one.id} /></a>`,
      ],
      ['Customer', customerOf],
      ['Found by', ({ as }) => html`<${Foreign} text=${as} />`],
    ]} />`;
}
