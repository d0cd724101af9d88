// Tells the engine that an activity is alive, on a clock of its own: when its worker dies, the next
// attempt begins within the heartbeat's timeout instead of the activity's.

import { Context } from '@temporalio/activity';

// Far below the timeouts of 15 s in workflows/policies.ts, so that a slow step is not taken for a
// death.
const everyMs = 4_000;

/** How often the SDK passes a beat on, of an activity that has no heartbeat timeout. */
export const beatsPassedOnEvery = '5 s';
/** Two beats that were due are missing, and some: its worker is taken for dead. */
export const silentAfterSeconds = 12;

export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beating = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(beating);
  }
}
