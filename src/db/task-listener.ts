// Readers that wait for a task to change (`Prefer: wait`), served by one listening connection per
// process. A notification that is lost, or a connection that is being made again, costs a waiting
// reader a second and never an answer.

import { Client } from 'pg';

export interface TaskListener {
  /**
   * Resolves when the task has changed, after this long, or sooner where a change could have been
   * missed.
   */
  changed(taskId: string, withinMs: number): Promise<void>;
  /** Wakes all who wait. It may be called again; the first call closes. */
  close(): Promise<void>;
}

// A look at the row at least this often: every second while nothing can be heard, else only for a
// notification that was lost with its connection.
const deafLookMs = 1_000;
const lookMs = 10_000;
const reconnectMs = 1_000;

export function createTaskListener(url: string, onError: (error: unknown) => void): TaskListener {
  const readers = waitingReaders();
  const ear = keepListening(url, readers.wake, onError);
  let closed: Promise<void> | undefined;
  return {
    changed: (taskId, withinMs) =>
      readers.wait(taskId, Math.min(withinMs, ear.hears() ? lookMs : deafLookMs)),
    close() {
      closed ??= ear.close();
      readers.wakeAll();
      return closed;
    },
  };
}

function waitingReaders() {
  const waiting = new Map<string, Set<() => void>>();
  const wake = (taskId: string) => {
    for (const waker of waiting.get(taskId) ?? []) waker();
  };
  return {
    wake,
    wakeAll() {
      for (const taskId of [...waiting.keys()]) wake(taskId);
    },
    wait(taskId: string, withinMs: number): Promise<void> {
      return new Promise((resolve) => {
        const wakers = waiting.get(taskId) ?? new Set();
        waiting.set(taskId, wakers);
        const done = () => {
          clearTimeout(timer);
          wakers.delete(done);
          if (wakers.size === 0 && waiting.get(taskId) === wakers) waiting.delete(taskId);
          resolve();
        };
        const timer = setTimeout(done, withinMs);
        wakers.add(done);
      });
    },
  };
}

/** One listening connection, made again whenever it is lost. */
function keepListening(
  url: string,
  onChanged: (taskId: string) => void,
  onError: (error: unknown) => void,
) {
  let client: Client | undefined;
  let hears = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  const tell = (error: unknown) => {
    if (!closed) onError(error);
  };

  const connect = async (): Promise<void> => {
    const next = new Client({
      connectionString: url,
      application_name: 'api listener',
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    client = next;
    next.on('error', tell);
    next.on('notification', ({ payload }) => onChanged(payload ?? ''));
    next.on('end', again);
    try {
      await next.connect();
      await next.query('listen task_changed');
      hears = true;
    } catch (error) {
      tell(error);
      await next.end().catch(() => undefined);
      again();
    }
  };
  const again = () => {
    hears = false;
    if (closed || retry) return;
    retry = setTimeout(() => {
      retry = undefined;
      connecting = connect();
    }, reconnectMs);
  };
  let connecting = connect();

  return {
    hears: () => hears,
    async close() {
      closed = true;
      clearTimeout(retry);
      await connecting;
      await client?.end().catch(() => undefined);
    },
  };
}
