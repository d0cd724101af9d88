// Readers that wait for a task to change (`Prefer: wait`), served by one listening connection per
// process. A notification that is lost, or a connection that is being made again, costs a waiting
// reader a second and never an answer.

import { Client } from 'pg';

export interface TaskListener {
  /** Resolves when the task has changed, after this long, or sooner where a change could have been missed. */
  changed(taskId: string, withinMs: number): Promise<void>;
  close(): Promise<void>;
}

// A look at the row at least this often: every second while nothing can be heard, else only for a notification that was
// lost with its connection.
const deafLookMs = 1_000;
const lookMs = 10_000;
const reconnectMs = 1_000;

export function createTaskListener(url: string, onError: (error: unknown) => void): TaskListener {
  const waiting = new Map<string, Set<() => void>>();
  let client: Client | undefined;
  let hears = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const next = new Client({
      connectionString: url,
      application_name: 'api listener',
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    client = next;
    next.on('error', (error) => {
      if (!closed) onError(error);
    });
    next.on('notification', ({ payload }) => {
      for (const wake of waiting.get(payload ?? '') ?? []) wake();
    });
    next.on('end', again);
    try {
      await next.connect();
      await next.query('listen task_changed');
      hears = true;
    } catch (error) {
      if (!closed) onError(error);
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
    changed(taskId, withinMs) {
      return new Promise((resolve) => {
        const wakers = waiting.get(taskId) ?? new Set();
        waiting.set(taskId, wakers);
        const done = () => {
          clearTimeout(timer);
          wakers.delete(done);
          if (wakers.size === 0 && waiting.get(taskId) === wakers) waiting.delete(taskId);
          resolve();
        };
        const timer = setTimeout(done, Math.min(withinMs, hears ? lookMs : deafLookMs));
        wakers.add(done);
      });
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      for (const wakers of waiting.values()) for (const wake of [...wakers]) wake();
      await connecting;
      await client?.end().catch(() => undefined);
    },
  };
}
