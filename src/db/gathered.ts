// Batches look-ups by id: all calls within one turn of the event loop share one statement. The
// statement is sent after these calls, so no call gets a state that was read before the call. A row
// that cannot be read fails only the calls for this row.

import { setTimeout as wait } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { withoutBadRows } from './bad-rows';

/** Returns a function that looks up one id, or null if the id is not found. */
export type Gathered<T> = (id: string) => Promise<T | null>;

type Read<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

export function gathered<T>(read: Read<T>): Gathered<T> {
  return load(read, { maxBatchSize: 100, batchScheduleFn: setImmediate });
}

const pauseMs = 50;

/**
 * Like `gathered`, but with one statement at a time and a pause before each statement. So any
 * number of calls costs at most twenty statements a second, and each call waits only for the next
 * statement.
 */
export function gatheredSlowly<T>(read: Read<T>): Gathered<T> {
  let last: Promise<unknown> = Promise.resolve();
  const readNext: Read<T> = (ids) => {
    const reading = read(ids);
    last = reading.catch(() => {});
    return reading;
  };
  const send = async (dispatch: () => void) => {
    await Promise.all([last, wait(pauseMs)]);
    dispatch();
  };
  return load(readNext, { batchScheduleFn: (dispatch) => void send(dispatch) });
}

function load<T>(read: Read<T>, options: DataLoader.Options<string, T | null>): Gathered<T> {
  const loader = new DataLoader<string, T | null>(
    async (ids) => {
      const { done, bad } = await withoutBadRows(ids, async (some) => [...(await read(some))]);
      const found = new Map(done);
      const faults = new Map(bad.map(({ row, error }) => [row, error]));
      return ids.map((id) => faults.get(id) ?? found.get(id) ?? null);
    },
    { ...options, cache: false },
  );
  return (id) => loader.load(id);
}
