/*
 * One timer for all jobs, set for the earliest moment at which one of them is due. An entry may be
 * stale because its job has changed since; the reader checks and drops it.
 */

import TinyQueue from 'tinyqueue';

/** Node's timers overflow after 24 days; one wake-up an hour costs nothing. */
const WAIT_MS_MAX = 3_600_000;

interface Due {
  at: number;
  id: string;
}

export function createDueTimer(onDue: () => void) {
  const queue = new TinyQueue<Due>([], (a, b) => a.at - b.at);
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let closed = false;

  function add(at: number, id: string): void {
    queue.push({ at, id });
    startTimer();
  }

  /** The ids that are due by now, earliest first, including those added while this is read. */
  function* takeDue(now: number): Generator<string> {
    for (let next = queue.peek(); next && next.at <= now; next = queue.peek()) {
      queue.pop();
      yield next.id;
    }
  }

  function startTimer(): void {
    const at = queue.peek()?.at;
    if (closed || at === undefined || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(fire, Math.min(Math.max(at - Date.now(), 0), WAIT_MS_MAX));
    timer.unref();
  }

  function fire(): void {
    timerAt = Number.POSITIVE_INFINITY;
    onDue();
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
  }

  return { add, takeDue, startTimer, close };
}
