// Sends heartbeats of an activity at fixed intervals. If the worker dies, the next attempt begins
// after the heartbeat timeout, long before the timeout of the activity. The activity that places
// jobs has no heartbeat timeout; jobs/recover-stalled-placements.ts checks its heartbeats.

import { Context } from '@temporalio/activity';

// Far below the heartbeat timeout of 15 s (workflows/policies.ts), so that a late heartbeat does
// not count as a dead worker.
const everyMs = 4_000;

/** The interval at which the SDK sends heartbeats of activities without a heartbeat timeout. */
export const beatsPassedOnEvery = '5 s';
/** After this long at least two heartbeats are missing, and the worker counts as dead. */
export const silentAfterSeconds = 15;

export function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  return whileAdvancing(() => Number.POSITIVE_INFINITY, work);
}

/**
 * For loops. Heartbeats are sent only if the last call of `advance` is less than `stepMaxMs` ago.
 * If a step takes longer, Temporal gives the activity to another worker.
 */
export async function whileAdvancing<T>(
  stepMaxMs: () => number,
  work: (advance: () => void) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  let advancedAt = performance.now();
  const beat = () => {
    if (performance.now() - advancedAt < stepMaxMs()) context.heartbeat();
  };
  const beating = setInterval(beat, everyMs);
  try {
    return await work(() => {
      advancedAt = performance.now();
    });
  } finally {
    clearInterval(beating);
  }
}
