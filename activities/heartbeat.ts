// Sends heartbeats of an activity at fixed intervals. If the worker dies, the next attempt begins
// after the heartbeat timeout. The timeout of the whole activity is much longer. The activity that
// places jobs sends none: it has a lease in the row of its job (jobs/run-job.ts).

import { Context } from '@temporalio/activity';

// This interval is far below the heartbeat timeout of 15 s (workflows/policies.ts). So a worker
// does not count as dead if a single heartbeat is late.
const everyMs = 4_000;

/**
 * The interval at which the SDK passes heartbeats on to Temporal. By default it waits for 80 % of the
 * heartbeat timeout, so a single late heartbeat would be too late.
 */
export const beatsPassedOnEvery = '5 s';

export function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  return whileAdvancing(() => Number.POSITIVE_INFINITY, work);
}

/**
 * For activities that run a loop. Heartbeats are sent only if the last call of `advance` is less
 * than `stepMaxMs` ago. If a step takes longer, Temporal gives the activity to another worker.
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
