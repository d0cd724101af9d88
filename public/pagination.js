// A list in pages. The pages that are open may be read again regularly. The user opens each further
// page with a button.

import { usePolled } from './hooks.js';
import { html, useEffect, useRef } from './preact.js';

/** A movement has a number. */
const keyOf = ({ id, number }) => id ?? number;

/**
 * `ask(after)` returns `{ data, next }`. Only the first page is open at first, and when `deps`
 * change.
 */
export function usePages(ask, nextMs, deps) {
  const open = useRef(1);
  useEffect(() => {
    open.current = 1;
  }, deps);
  const askAll = async () => {
    let page = await ask(null);
    const data = [...page.data];
    for (let pages = 1; pages < open.current && page.next; pages += 1) {
      page = await ask(page.next);
      data.push(...page.data);
    }
    return { data, next: page.next };
  };
  const list = usePolled(askAll, nextMs, deps);
  // A row may move to the next page between two calls.
  const rows = [...new Map((list.value?.data ?? []).map((row) => [keyOf(row), row])).values()];
  const load = () => {
    open.current += 1;
    list.refresh();
  };
  return { ...list, rows, load: list.value?.next ? load : null };
}

export function MoreButton({ load }) {
  return load
    ? html`<p><button type="button" class="button" onClick=${load}>Show more</button></p>`
    : null;
}
