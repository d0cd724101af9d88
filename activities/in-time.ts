// Limits the time for which an answer is awaited.

import { setTimeout as pause } from 'node:timers/promises';

/** Rejects if the answer takes longer. Nothing is cancelled: what was asked for goes on. */
export function inTime<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  const late = pause(withinMs, undefined, { ref: false }).then(() => {
    throw new Error(`There was no answer within ${withinMs} ms.`);
  });
  return Promise.race([answer, late]);
}
