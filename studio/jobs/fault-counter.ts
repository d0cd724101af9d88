/*
 * Chooses the scripted fault of each attempt. Attempts are counted for each caller of a create and
 * for each result file.
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
 * to one attempt.
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
