// A list in pages. The first page may be refreshed regularly. The user loads each further page with
// a button.

import { usePolled } from './hooks.js';
import { html, useEffect, useState } from './preact.js';

/** `ask(after)` returns `{ data, next }`. The later pages are removed when `deps` change. */
export function usePages(ask, nextMs, deps) {
  const first = usePolled(() => ask(null), nextMs, deps);
  const [more, setMore] = useState(null);
  const [fault, setFault] = useState(null);
  useEffect(() => setMore(null), deps);
  const next = more ? more.next : first.value?.next;
  const load = async () => {
    setFault(null);
    try {
      const page = await ask(next);
      setMore({ data: [...(more?.data ?? []), ...page.data], next: page.next });
    } catch (error) {
      setFault(error);
    }
  };
  const rows = [...(first.value?.data ?? []), ...(more?.data ?? [])];
  return { ...first, fault: first.fault ?? fault, rows, load: next ? load : null };
}

export function MoreButton({ load }) {
  return load
    ? html`<p><button type="button" class="button" onClick=${load}>Show more</button></p>`
    : null;
}
