/*
 * Decides which scripted fault an attempt gets. It counts the attempts of each caller or file.
 */

import type { Fault } from './fault-script';

export function createFaultCounter() {
  const attempts = new Map<string, number>();

  return function nextFault<One extends Fault>(
    faults: One | One[] | undefined,
    identity: string,
  ): One | undefined {
    if (!faults) return undefined;
    const attempt = (attempts.get(identity) ?? 0) + 1;
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
