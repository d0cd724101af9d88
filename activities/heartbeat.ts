// Heartbeats of an activity at fixed intervals. If its worker dies, the next attempt begins after
// the heartbeat timeout instead of the activity's. The activity that places jobs has no such
// timeout; jobs/recover-stalled-placements.ts checks its heartbeats.

import { Context } from '@temporalio/activity';

// Far below the heartbeat timeout of 15 s (workflows/policies.ts), so that a slow step does not
// count as a death.
const everyMs = 4_000;

/** The SDK's heartbeat throttle for activities without a heartbeat timeout. */
export const beatsPassedOnEvery = '5 s';
/** After this long at least two heartbeats are missing, and the worker counts as dead. */
export const silentAfterSeconds = 15;

export function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  return whileAdvancing(() => Number.POSITIVE_INFINITY, work);
}

/**
 * For loops: heartbeats only while `advance` is called. If one step takes too long, the heartbeats
 * stop and Temporal gives the activity to another worker.
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
