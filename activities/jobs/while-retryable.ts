// Repeats a statement whose loss no later attempt could repair.

import { setTimeout } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isRetryable } from '../../src/db/database';

// A restart or a fail-over of the database takes less time.
const repeatedForMs = 120_000;

/**
 * Repeats a statement until the database can be reached again. The answer of a create is stored so,
 * because a provider without a list and without keys cannot be asked for it again.
 */
export async function whileRetryable<T>(statement: () => Promise<T>): Promise<T> {
  const until = performance.now() + repeatedForMs;
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      const isOver = performance.now() > until || Context.current().cancellationSignal.aborted;
      if (isOver || !isRetryable(error)) throw error;
      await setTimeout(500);
    }
  }
}
