// Calls of Temporal for one task after another. A call that fails for one task keeps no other from
// its turn.

import { isRetryable } from '../../src/db/database';

// After this many failed calls Temporal is probably away. The run ends, and the next one starts over.
const failuresMax = 3;

export async function oneByOne<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  onFailure: (item: T) => void,
): Promise<void> {
  let failures = 0;
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      // Untested: the database goes away in the middle of a run.
      if (isRetryable(error)) throw error;
      onFailure(item);
      failures += 1;
      if (failures >= failuresMax) throw error;
    }
  }
}
