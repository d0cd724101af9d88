/*
 * Decides which scripted fault an attempt meets, by counting the attempts of each caller or file.
 * The number of counters is bounded: beyond the limit the oldest are dropped.
 */

import type { Fault } from './fault-script';

const COUNTERS_MAX = 100_000;

export function createFaultCounter() {
  const attempts = new Map<string, number>();

  return function nextFault<One extends Fault>(
    faults: One | One[] | undefined,
    identity: string,
  ): One | undefined {
    if (!faults) return undefined;
    const attempt = (attempts.get(identity) ?? 0) + 1;
    if (attempts.size >= COUNTERS_MAX) attempts.delete(attempts.keys().next().value ?? '');
    attempts.set(identity, attempt);
    return faultOfAttempt([faults].flat() as One[], attempt);
  };
}

/** Each fault lasts for its `times` attempts; the next fault in the list follows. */
function faultOfAttempt<One extends Fault>(faults: One[], attempt: number): One | undefined {
  let left = attempt;
  for (const fault of faults) {
    const times = fault.times ?? 1;
    if (left <= times) return fault;
    left -= times;
  }
  return undefined;
}
