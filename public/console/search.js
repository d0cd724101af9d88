// The search box of the header, and the list of what it found. One result opens at once. A pasted API
// key is cut to its last four characters here, so the server never gets it.

import { usePolled } from '../hooks.js';
import { html, useEffect, useRef, useState } from '../preact.js';
import { Banner, Foreign, State, useTitle } from './parts.js';

const keys = /\bv[ko]_[\w-]{5,}/g;

/** Keys of customers and of operators are secrets. */
export const withoutKeys = (text) => text.replace(keys, (key) => key.slice(-4)).trim();

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
    const asked = withoutKeys(text);
    if (!asked) return;
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
        if (withoutKeys(pasted) === pasted.trim()) return;
        event.preventDefault();
        setText(withoutKeys(pasted));
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
  const q = withoutKeys(query.get('q') ?? '');
  useTitle('Search');
  const shown = usePolled(
    async () => {
      const { data } = await api.get(`/find?${new URLSearchParams({ q })}`);
      const [only, ...others] = data;
      // The list is left out of the history, so that the back button leads past it.
      if (query.get('open') && only && others.length === 0) {
        location.replace(`#/${pages[only.kind](only)}`);
      }
      return { data };
    },
    () => null,
    [api, q],
  );
  const found = shown.value?.data;
  return html`
    <main>
      <h1>Search</h1>
      <p>For <${Foreign} text=${q} /></p>
      <${Banner} lost=${shown.lost} />
      <${State} of=${shown} />
      ${found && (found.length === 0 ? html`<${Nothing} />` : html`<${Found} found=${found} />`)}
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
  return html`<table>
    <thead><tr><th>What</th><th>Id</th><th>Customer</th><th>Found by</th></tr></thead>
    <tbody>
      ${found.map(
        (one) => html`<tr key=${`${one.kind} ${one.id} ${one.as}`}>
          <td data-label="What">${one.kind}</td>
          <td data-label="Id"><a href=${`#/${pages[one.kind](one)}`}><${Foreign} text=${one.id} /></a></td>
          <td data-label="Customer"><${Foreign} text=${one.accountId} /></td>
          <td data-label="Found by"><${Foreign} text=${one.as} /></td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
