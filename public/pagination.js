// A list in pages. The first page may be refreshed regularly. The user loads each further page with
// a button.

import { usePolled } from './hooks.js';
import { html, useEffect, useRef, useState } from './preact.js';

/** A movement has a number. */
const keyOf = ({ id, number }) => id ?? number;

/** `ask(after)` returns `{ data, next }`. The later pages are removed when `deps` change. */
export function usePages(ask, nextMs, deps) {
  const first = usePolled(() => ask(null), nextMs, deps);
  const [more, setMore] = useState(null);
  const [fault, setFault] = useState(null);
  const asked = useRef(0);
  useEffect(() => {
    asked.current += 1;
    setMore(null);
  }, deps);
  const fresh = first.value?.data ?? [];
  const next = more ? more.next : first.value?.next;
  const load = async () => {
    setFault(null);
    const run = asked.current;
    try {
      const page = await ask(next);
      // The answer to an earlier filter is not shown.
      if (run !== asked.current) return;
      setMore({ data: [...(more?.data ?? fresh), ...page.data], next: page.next });
    } catch (error) {
      if (run === asked.current) setFault(error);
    }
  };
  // New rows push others out of the first page, so the later pages begin with its earlier rows. An
  // earlier row between the fresh ones does not belong to the list any more.
  const isFresh = new Set(fresh.map(keyOf));
  const oldest = fresh.at(-1)?.created_at ?? Number.POSITIVE_INFINITY;
  const isLater = (row) => !isFresh.has(keyOf(row)) && !(row.created_at > oldest);
  const later = more?.data.filter(isLater) ?? [];
  const rows = [...fresh, ...later];
  return { ...first, fault: first.fault ?? fault, rows, load: next ? load : null };
}

export function MoreButton({ load }) {
  return load
    ? html`<p><button type="button" class="button" onClick=${load}>Show more</button></p>`
    : null;
}
