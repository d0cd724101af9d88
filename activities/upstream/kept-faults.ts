// Stores the last fault of each channel for `admin channels`, and the end of its rest, during which
// the channel gives no turns. A fault that could not be stored is forgotten: the next one is stored.

import type { Knex } from 'knex';
import { recordFault } from '../../src/db/watchers';
import type { FaultKind } from '../../src/domain/create-answer';

// A provider that is down makes hundreds of faults a second.
const everyMs = 5_000;

export function keepFaults(db: Knex) {
  const keptAt = new Map<string, number>();
  return (channel: string, kind: FaultKind, restMs: number): void => {
    // The first fault that makes the channel rest is stored even if another one was just stored.
    const key = `${channel} ${kind} ${restMs > 0}`;
    const now = performance.now();
    if (now - (keptAt.get(key) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
    keptAt.set(key, now);
    void recordFault(db, channel, kind, Math.max(0, restMs)).catch(() => undefined);
  };
}
