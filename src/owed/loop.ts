// The loop that does what is owed. A row that somebody must act on says since when it is due. The loop
// claims due rows under a lease and does the duty of each. The statement that fulfils the duty clears
// it. A duty that fails is due again when its lease ends, so nothing is undone here.

import { setTimeout as pause } from 'node:timers/promises';

export interface Duty<Row> {
  readonly name: string;
  /** The number of rows on which one process works at the same time. */
  readonly atOnce: number;
  /** The pause after a claim that found too few rows, unless the loop is woken. */
  readonly idleMs: number;
  /** Claims at most so many due rows. Concurrent claims get different rows. */
  claim(limit: number): Promise<readonly Row[]>;
  /** Does the duty. Returns false if the other side did not answer. */
  fulfil(row: Row): Promise<boolean>;
  /** Makes a row whose duty was not done due again before the end of its lease. */
  postpone?(row: Row): Promise<void>;
}

export interface Loop {
  /** True if the other side has not answered the last calls. */
  isAway(): boolean;
  /** Lets the loop claim rows at once. */
  wake(): void;
  /** Stops the loop, and waits for its work in progress for a while. */
  close(): Promise<void>;
}

// After so many unanswered calls in a row the loop works on one row after each pause, to find out
// whether the other side answers again.
const unansweredMax = 3;
// If nothing was due for this time, the failures say nothing about the other side any more. A failed
// call takes less time, and its row is due again before.
const forgottenAfterMs = 30_000;
// A worker that stops has fourteen seconds. What is cut short is due again after its lease.
const closesWithinMs = 10_000;

/** Judges by the last calls whether the other side is away. */
function createOtherSide() {
  let unanswered = 0;
  let failedAt = 0;
  const lately = () => (performance.now() - failedAt < forgottenAfterMs ? unanswered : 0);
  return {
    isAway: () => lately() >= unansweredMax,
    told(isAnswered: boolean): void {
      unanswered = isAnswered ? 0 : lately() + 1;
      if (!isAnswered) failedAt = performance.now();
    },
  };
}

export function createLoop<Row>(
  duty: Duty<Row>,
  onError: (what: string, error: unknown) => void,
): Loop {
  const running = new Set<Promise<void>>();
  let isClosed = false;
  let alarm = new AbortController();
  const { isAway, told } = createOtherSide();
  const wake = (): void => {
    if (!isAway()) alarm.abort();
  };

  const fulfil = async (row: Row): Promise<void> => {
    const failed = (error: unknown) => onError(duty.name, error);
    const isAnswered = await duty.fulfil(row).catch((error: unknown) => {
      failed(error);
      return false;
    });
    told(isAnswered);
    if (!isAnswered) await duty.postpone?.(row).catch(failed);
  };

  /** Returns true if more rows may be due. */
  const claim = async (): Promise<boolean> => {
    const limit = Math.min(duty.atOnce - running.size, isAway() ? 1 : duty.atOnce);
    if (limit <= 0 || isClosed) return false;
    const rows = await duty.claim(limit);
    for (const row of rows) {
      const done = fulfil(row).finally(() => {
        running.delete(done);
        // Not after every row, so that one claim takes several rows.
        if (running.size % 4 === 0) wake();
      });
      running.add(done);
    }
    return rows.length > 0 && !isAway();
  };

  const loop = async (): Promise<void> => {
    while (!isClosed) {
      alarm = new AbortController();
      while (await claim().catch((error: unknown) => onError(`claim of ${duty.name}`, error)));
      // `wake` ends the pause, even if `wake` was called while `claim` was running.
      await pause(duty.idleMs, undefined, alarm).catch(() => undefined);
    }
  };

  const looping = loop();
  return {
    isAway,
    wake,
    async close() {
      isClosed = true;
      alarm.abort();
      await looping;
      const ended = new AbortController();
      const late = pause(closesWithinMs, undefined, ended).catch(() => undefined);
      await Promise.race([Promise.all(running), late]);
      ended.abort();
    },
  };
}
