// Calls Temporal for one task after another. If the call for one task fails, the calls for the next
// tasks are still made.

import { isRetryable } from '../../src/database/database';
import { unlessStopping } from '../handing-over';

// After this many failed calls in a row, Temporal is probably unavailable. The other items are left
// to a later run.
const failuresMax = 3;

export async function oneByOne<T>(
  stopping: AbortSignal,
  items: readonly T[],
  work: (item: T) => Promise<void>,
  onFailure: (item: T) => void,
): Promise<void> {
  let failures = 0;
  for (const item of items) {
    unlessStopping(stopping);
    try {
      await work(item);
      failures = 0;
    } catch (error) {
      // Untested: the database becomes unavailable during a run.
      if (isRetryable(error)) throw error;
      onFailure(item);
      failures += 1;
      if (failures >= failuresMax) throw error;
    }
  }
}
