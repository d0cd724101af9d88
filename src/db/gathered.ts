// Batches look-ups by id: calls within one turn of the event loop share one statement. The statement
// is sent after the calls, so none of them gets an older state.

import DataLoader from 'dataloader';

/** Null for an id that is not found. */
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
