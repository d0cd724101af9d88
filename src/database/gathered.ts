// Batches look-ups by id: all calls within one turn of the event loop share one statement. The
// statement is sent after these calls, so no call gets a state that was read before the call. A row
// that cannot be read fails only the calls for this row.

import { setTimeout as wait } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { withoutBadRows } from './bad-rows';

/** Returns a function that looks up one id, or null if the id is not found. */
export type Gathered<T> = (id: string) => Promise<T | null>;

type Read<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

export type Gather = <T>(read: Read<T>) => Gathered<T>;

/**
 * All look-ups of the returned function together send at most `max` statements at once. The calls that
 * come meanwhile share the next statement.
 */
export function gatheredAtOnce(max: number): Gather {
  let running = 0;
  const waiting: (() => void)[] = [];
  const begin = (dispatch: () => void): void => {
    if (running >= max) return void waiting.push(dispatch);
    running += 1;
    dispatch();
  };
  const end = (): void => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return (read) =>
    load(
      read,
      { maxBatchSize: 100, batchScheduleFn: (dispatch) => void setImmediate(begin, dispatch) },
      end,
    );
}

const pauseMs = 50;

/**
 * Like `gatheredAtOnce`, but with one statement at a time and a pause before each statement. So any
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

/** A batch with a row that cannot be read is several statements, one after the other; then it ends. */
function load<T>(
  read: Read<T>,
  options: DataLoader.Options<string, T | null>,
  end: () => void = () => undefined,
): Gathered<T> {
  const readAll = async (some: readonly string[]) => [...(await read(some))];
  const loader = new DataLoader<string, T | null>(
    async (ids) => {
      const { done, bad } = await withoutBadRows(ids, readAll).finally(end);
      const found = new Map(done);
      const faults = new Map(bad.map(({ row, error }) => [row, error]));
      return ids.map((id) => faults.get(id) ?? found.get(id) ?? null);
    },
    { ...options, cache: false },
  );
  return (id) => loader.load(id);
}
