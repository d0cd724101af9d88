// Hooks for state that changes outside the components: the clock, the URL, and answers of the API.

import { Unreachable } from './api.js';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from './preact.js';

/**
 * Returns `[isBusy, once]`. While the work that `once` was given goes on, it does no other: a second
 * click or Enter sends nothing.
 */
export function useOnce() {
  const [isBusy, setBusy] = useState(false);
  // A second click may come before the button is drawn as disabled.
  const busy = useRef(false);
  const once = async (work) => {
    if (busy.current) return;
    busy.current = true;
    setBusy(true);
    try {
      await work();
    } finally {
      busy.current = false;
      setBusy(false);
    }
  };
  return [isBusy, once];
}

export function useNow(everyMs = 1000, running = true) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, running]);
  return now;
}

/**
 * Returns the current view. The part of the URL after # names the view, so that a reload or a link
 * shows the same view.
 */
export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const changed = () => setRoute(readRoute());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

function readRoute() {
  const [, view = '', id = ''] = location.hash.split('/');
  return { view: view || 'create', id: decoded(id) };
}

/** Somebody may have typed the address. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function go(...parts) {
  location.hash = `#/${parts.map(encodeURIComponent).join('/')}`;
}

const unread = { value: null, fault: null, lost: '' };

/**
 * Calls `ask`, and calls `ask` again after `nextMs(answer)` milliseconds. If `nextMs` returns null,
 * the call is not repeated. If the service does not answer or limits the rate, the call is
 * repeated: at first after one second, later every five seconds, or every minute if it says itself
 * that it is not able to answer. The previous answer then stays on the page, and `lost` is a sentence,
 * because this answer may be old. While `rests()` is true, nothing is repeated.
 */
export function usePolled(ask, nextMs, deps, rests = () => false) {
  const [state, setState] = useState(unread);
  const again = useRef(() => undefined);
  // In the layout, so that the old answer is never painted under what is newly asked.
  useLayoutEffect(() => {
    let timer;
    let current = true;
    let misses = 0;
    let reads = 0;
    const soon = (ms, then = check) => {
      clearTimeout(timer);
      if (current) timer = setTimeout(then, ms);
    };
    const later = (ms) => soon(ms, () => (rests() ? later(ms) : check()));
    const check = async () => {
      reads += 1;
      const read = reads;
      const isLate = () => !current || read !== reads;
      try {
        const value = await ask();
        if (isLate()) return;
        misses = 0;
        setState({ ...unread, value });
        const wait = nextMs(value);
        if (wait !== null) later(wait);
      } catch (error) {
        if (isLate()) return;
        const isLost = error instanceof Unreachable || error.status === 429;
        const why = isLost ? { fault: null, lost: error.message } : { fault: error, lost: '' };
        setState((before) => ({ ...before, ...why }));
        misses += 1;
        if (isLost) later(Math.min(error.said ? 60_000 : 5_000, 500 * 2 ** misses));
      }
    };
    again.current = () => {
      // An answer on its way does not know what was just done.
      reads += 1;
      soon(0);
    };
    setState(unread);
    void check();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, deps);
  const refresh = useCallback(() => again.current(), []);
  return { ...state, refresh };
}

/** Reads one path, and reads it again after `everyMs`; null: only after `refresh`. */
export const useRead = (api, path, everyMs, rests) =>
  usePolled(
    () => api.get(path),
    () => everyMs,
    [api, path],
    rests,
  );
