// Stores the last fault of each channel for `admin channels`, and the end of its rest, during which
// the channel gives no turns. A fault that could not be stored is forgotten: the next one is stored.

import type { Knex } from 'knex';
import type { FaultKind } from '../../src/jobs/create-answer.rules';
import { recordFault } from '../../src/jobs/watchers.rows';

// A provider that is down makes hundreds of faults a second.
const everyMs = 5_000;

export function keepFaults(db: Knex) {
  const kept = new Map<string, { readonly at: number; readonly restsUntil: number }>();
  return (channel: string, kind: FaultKind, restMs: number): void => {
    const key = `${channel} ${kind}`;
    const now = performance.now();
    const last = kept.get(key);
    const restsUntil = now + Math.max(0, restMs);
    // A longer rest is stored even if a fault was just stored.
    const isLonger = restMs > 0 && restsUntil > (last?.restsUntil ?? 0) + 1_000;
    if (last && now - last.at < everyMs && !isLonger) return;
    kept.set(key, { at: now, restsUntil });
    void recordFault(db, channel, kind, restsUntil - now).catch(() => undefined);
  };
}
