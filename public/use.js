// State that follows something outside the page: the clock, the address, an answer of the API that
// goes on changing.

import { Unreachable } from './api.js';
import { useCallback, useEffect, useRef, useState } from './ui.js';

export function useNow(everyMs = 1000, running = true) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, running]);
  return now;
}

/** The page's place, kept after the # so that a reload and a link lead back to it. */
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
  return { view: view || 'create', id: decodeURIComponent(id) };
}

export function go(...parts) {
  location.hash = `#/${parts.map(encodeURIComponent).join('/')}`;
}

/**
 * Asks once, and again as long as `nextMs(answer)` is a number. A service that is away is asked
 * again by itself: sooner at first, then every five seconds; what was answered last stays on the
 * page, with `lost` saying that it may be old.
 */
export function usePolled(ask, nextMs, deps) {
  const [state, setState] = useState({ value: null, fault: null, lost: false });
  const again = useRef(() => undefined);
  useEffect(() => {
    let timer;
    let current = true;
    let misses = 0;
    const soon = (ms) => {
      clearTimeout(timer);
      if (current) timer = setTimeout(look, ms);
    };
    const look = async () => {
      try {
        const value = await ask();
        if (!current) return;
        misses = 0;
        setState({ value, fault: null, lost: false });
        const wait = nextMs(value);
        if (wait !== null) soon(wait);
      } catch (error) {
        if (!current) return;
        const lost = error instanceof Unreachable || error.status === 429;
        setState((before) => ({ ...before, fault: lost ? null : error, lost }));
        misses += 1;
        if (lost) soon(Math.min(5_000, 500 * 2 ** misses));
      }
    };
    again.current = () => soon(0);
    setState({ value: null, fault: null, lost: false });
    void look();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, deps);
  const refresh = useCallback(() => again.current(), []);
  return { ...state, refresh };
}
