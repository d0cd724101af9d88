// A list in pages. All pages that are open may be read again regularly. The user opens each further
// page with a button.

import { usePolled } from './hooks.js';
import { html, useLayoutEffect, useRef } from './preact.js';

/** A movement has a number. */
const keyOf = ({ id, number }) => id ?? number;

/** How many pages may have fewer rows than asked for, before the user has to ask for more. */
const shortPagesMax = 3;

/** The most rows that the API returns in one call. */
const rowsMax = 100;

/**
 * `ask(after, limit)` returns `{ data, next }`. A page has `size` rows. Only the first page is open
 * at first, and when `deps` change.
 */
export function usePages(ask, size, nextMs, deps, rests) {
  const open = useRef(1);
  const short = useRef(shortPagesMax);
  // Before `usePolled` asks.
  useLayoutEffect(() => {
    open.current = 1;
    short.current = shortPagesMax;
  }, deps);
  const askAll = async () => {
    const data = [];
    let next = null;
    let shortPages = 0;
    do {
      const missing = open.current * size - data.length;
      const asked = Math.min(missing, rowsMax);
      const page = await ask(next, asked);
      data.push(...page.data);
      next = page.next;
      // A list that examines its rows may find none on a page.
      if (page.data.length < asked) shortPages += 1;
    } while (next && data.length < open.current * size && shortPages < short.current);
    return { data, next };
  };
  const list = usePolled(askAll, nextMs, deps, rests);
  // A row may move to the next rows between two calls.
  const rows = [...new Map((list.value?.data ?? []).map((row) => [keyOf(row), row])).values()];
  const load = () => {
    open.current = Math.ceil(list.value.data.length / size) + 1;
    short.current += shortPagesMax;
    list.refresh();
  };
  return { ...list, rows, load: list.value?.next ? load : null };
}

export function MoreButton({ load }) {
  return load
    ? html`<p><button type="button" class="button" onClick=${load}>Show more</button></p>`
    : null;
}
