// Counts the refused calls of each customer that tell of its limits, its money or its rights, and stores
// the counts once a minute. A call waits for nothing. While the database does not answer, the counts are
// kept, for a limited number of customers and codes.

import type { RefusedCalls } from '../accounts/refusals.rows';
import { refusals } from '../contract/error';
import type { Logger } from '../telemetry/logger';

const everyMs = 60_000;
const countsMax = 10_000;
// A process that stops waits no longer for a database that does not answer.
const lastWaitMs = 2_000;

const counted = new Set(
  Object.entries(refusals)
    .filter(
      ([code, { status }]) => [402, 403, 429].includes(status) || code.endsWith('_limit_reached'),
    )
    .map(([code]) => code),
);

export interface RefusalCounts {
  count(accountId: string, code: string): void;
  /** Stores what was counted last. */
  close(): Promise<void>;
}

export function createRefusalCounts(
  store: (counts: readonly RefusedCalls[]) => Promise<void>,
  log: Pick<Logger, 'warn'>,
): RefusalCounts {
  const counts = new Map<string, RefusedCalls>();
  const add = ({ accountId, code, calls }: RefusedCalls) => {
    const name = `${accountId} ${code}`;
    const before = counts.get(name);
    if (!before && counts.size >= countsMax) return;
    counts.set(name, { accountId, code, calls: calls + (before?.calls ?? 0) });
  };
  let storing: Promise<void> | undefined;
  const storeAll = async () => {
    const taken = [...counts.values()];
    if (taken.length === 0) return;
    counts.clear();
    try {
      await store(taken);
    } catch (error) {
      taken.forEach(add);
      log.warn({ event: 'refusals_not_stored', err: error }, 'refused calls cannot be stored now');
    }
  };
  const flush = () => {
    storing ??= storeAll().finally(() => {
      storing = undefined;
    });
    return storing;
  };
  const timer = setInterval(() => void flush(), everyMs).unref();
  return {
    count(accountId, code) {
      if (counted.has(code)) add({ accountId, code, calls: 1 });
    },
    async close() {
      clearInterval(timer);
      const all = async () => {
        await storing;
        await flush();
      };
      await Promise.race([
        all(),
        new Promise((resolve) => setTimeout(resolve, lastWaitMs).unref()),
      ]);
    },
  };
}
