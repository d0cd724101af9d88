// Tells the engine that an activity is alive, on a clock of its own: when its worker dies, the next
// attempt begins within the heartbeat's timeout instead of the activity's. The activity that places
// jobs has no such timeout; unplaced.ts looks at its beats.

import { Context } from '@temporalio/activity';

// Far below the timeouts of 15 s in workflows/policies.ts, so that a slow step is not taken for a
// death.
const everyMs = 4_000;

/** How often the SDK passes a beat on, of an activity that has no heartbeat timeout. */
export const beatsPassedOnEvery = '5 s';
/** Two of them are missing, at least: its worker is taken for dead. */
export const silentAfterSeconds = 15;

export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beating = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(beating);
  }
}
