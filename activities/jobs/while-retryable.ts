// Repeats a statement whose loss no later attempt could repair.

import { setTimeout } from 'node:timers/promises';
import { mayPass } from '../../src/database/database';
import { storesAnswerForMs } from '../../src/jobs/placing.rules';

/**
 * Repeats a statement until the database takes it: until it can be reached again, or has space again.
 * The answer of a create is stored so, also a refusal, because a provider without a list and without
 * keys cannot be asked for it again. A cancellation does not end the attempts: the job of an ended task
 * must be cancelled by its id.
 */
export async function whileRetryable<T>(
  stopping: AbortSignal,
  statement: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + storesAnswerForMs;
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      const isOver = performance.now() > until || stopping.aborted;
      if (isOver || !mayPass(error)) throw error;
      await setTimeout(500);
    }
  }
}
