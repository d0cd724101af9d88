/*
 * One alarm clock for all jobs: it knows who is due when, and holds a single timer, set for the
 * earliest of them. Whoever reads may take what is due sooner than the timer rings.
 */

import { createDueList } from './due-list';

/** Node's timers overflow after 24 days; an hour is long enough to be rare. */
const WAIT_MS_MAX = 3_600_000;

export function createAlarm(onRing: () => void) {
  const due = createDueList();
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let closed = false;

  function set(at: number, id: string): void {
    due.push({ at, id });
    wind();
  }

  /** Everybody due by now, earliest first, with those who become due while this is read. */
  function* takeDue(now: number): Generator<string> {
    for (let at = due.nextAt(); at !== undefined && at <= now; at = due.nextAt()) {
      yield due.pop()!.id;
    }
  }

  function wind(): void {
    const at = due.nextAt();
    if (closed || at === undefined || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(ring, Math.min(Math.max(at - Date.now(), 0), WAIT_MS_MAX));
    timer.unref();
  }

  function ring(): void {
    timerAt = Number.POSITIVE_INFINITY;
    onRing();
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
  }

  return { set, takeDue, wind, close };
}
