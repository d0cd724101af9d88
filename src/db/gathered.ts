// Batches look-ups by id: all calls within one turn of the event loop share one statement. The
// statement is sent after these calls, so no call gets a state that was read before the call.

import DataLoader from 'dataloader';

/**
 * Returns a function that looks up one id. This function returns null if `read` does not find the
 * id.
 */
export function gathered<T>(
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): (id: string) => Promise<T | null> {
  const loader = new DataLoader<string, T | null>(
    async (ids) => {
      const found = await read(ids);
      return ids.map((id) => found.get(id) ?? null);
    },
    { cache: false, maxBatchSize: 100, batchScheduleFn: setImmediate },
  );
  return (id) => loader.load(id);
}
