/*
 * Chooses the scripted fault of each attempt. Creates are counted separately for each caller, and
 * downloads for each result file.
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

/**
 * Returns the fault of this attempt. Each fault of the list applies to `times` attempts, by default
 * to one attempt. Returns undefined after the attempts of the last fault.
 */
function faultOfAttempt<One extends Fault>(faults: One[], attempt: number): One | undefined {
  let left = attempt;
  for (const fault of faults) {
    const times = fault.times ?? 1;
    if (left <= times) return fault;
    left -= times;
  }
  return undefined;
}
