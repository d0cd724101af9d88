// Creates that are under way in this process: equal ones are one, and no account may have so many
// that the others wait.

import type { Engine, Submission } from '../temporal';
import { Refused } from './context';
import { limitHeaders, rateLimited } from './rate-limit';

/** Equal calls in one process share one submission: a workflow takes only a few updates at once. */
export function sharingSubmissions({ submit }: Pick<Engine, 'submit'>): Engine['submit'] {
  const running = new Map<string, Promise<Submission>>();
  return (input) => {
    const key = `${input.taskId}:${input.requestHash}`;
    const known = running.get(key);
    if (known) return known;
    const submission = submit(input).finally(() => running.delete(key));
    running.set(key, submission);
    return submission;
  };
}

/**
 * So many creates of one account are under way at most: a burst of one must not hold up the others.
 */
export function countInFlight(max: number) {
  const counts = new Map<string, number>();
  return {
    async during<T>(accountId: string, work: (underWay: number) => Promise<T>): Promise<T> {
      const before = counts.get(accountId) ?? 0;
      if (before >= max) {
        const message = `This account has ${before} creates under way, as many as it may have.`;
        throw new Refused(rateLimited(message), limitHeaders(max, 1));
      }
      counts.set(accountId, before + 1);
      try {
        return await work(before + 1);
      } finally {
        const left = (counts.get(accountId) ?? 1) - 1;
        if (left > 0) counts.set(accountId, left);
        else counts.delete(accountId);
      }
    },
  };
}
