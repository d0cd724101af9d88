// A list in pages. All pages that are open may be read again regularly. The user opens each further
// page with a button.

import { usePolled } from './hooks.js';
import { html, useEffect, useRef } from './preact.js';

/** A movement has a number. */
const keyOf = ({ id, number }) => id ?? number;

/** The most rows that the API returns in one call. */
const rowsMax = 100;

/**
 * `ask(after, limit)` returns `{ data, next }`. A page has `size` rows. Only the first page is open
 * at first, and when `deps` change.
 */
export function usePages(ask, size, nextMs, deps) {
  const open = useRef(1);
  useEffect(() => {
    open.current = 1;
  }, deps);
  const askAll = async () => {
    const data = [];
    let next = null;
    do {
      const missing = open.current * size - data.length;
      const page = await ask(next, Math.min(missing, rowsMax));
      data.push(...page.data);
      next = page.next;
    } while (next && data.length < open.current * size);
    return { data, next };
  };
  const list = usePolled(askAll, nextMs, deps);
  // A row may move to the next rows between two calls.
  const rows = [...new Map((list.value?.data ?? []).map((row) => [keyOf(row), row])).values()];
  const load = () => {
    open.current = Math.ceil(list.value.data.length / size) + 1;
    list.refresh();
  };
  return { ...list, rows, load: list.value?.next ? load : null };
}

export function MoreButton({ load }) {
  return load
    ? html`<p><button type="button" class="button" onClick=${load}>Show more</button></p>`
    : null;
}
