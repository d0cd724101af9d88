// Wakes readers that wait for a task to change (`Prefer: wait`). Each process has one LISTEN
// connection for this. Readers also read the row from time to time, so a lost notification or
// connection only delays their answer.

import { setInterval, setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { keepAlive, throwAway } from './silent-connections';

export interface TaskListener {
  /**
   * Resolves when the task has changed, and after `withinMs` at the latest. The promise may also
   * resolve earlier without a change, and a notification may be lost. So the reader always reads
   * the row when the promise resolves.
   */
  changed(taskId: string, withinMs: number): Promise<void>;
  /** Closes the connection and wakes all readers. May be called again. */
  close(): Promise<void>;
}

// Without a LISTEN connection, a reader reads the row again every second. With the connection, it
// reads the row again every ten seconds, because a notification may be lost.
const deafReadMs = 1_000;
const readMs = 10_000;
const reconnectMs = 1_000;
// A dead connection is noticed within the sum of these two times.
const checkMs = 5_000;
const answerMs = 2_000;

export function createTaskListener(url: string, onError: (error: unknown) => void): TaskListener {
  const readers = waitingReaders();
  const ear = keepListening(url, readers.wake, onError);
  let closed: Promise<void> | undefined;
  return {
    changed: (taskId, withinMs) =>
      readers.wait(taskId, Math.min(withinMs, ear.hears() ? readMs : deafReadMs)),
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
    async wait(taskId: string, withinMs: number): Promise<void> {
      const wakers = waiting.get(taskId) ?? new Set();
      waiting.set(taskId, wakers);
      const woken = new AbortController();
      const wake = () => woken.abort();
      wakers.add(wake);
      await setTimeout(withinMs, null, { signal: woken.signal }).catch(() => undefined);
      wakers.delete(wake);
      if (wakers.size === 0 && waiting.get(taskId) === wakers) waiting.delete(taskId);
    },
  };
}

/** Keeps one connection listening, and connects again if the connection is lost. */
function keepListening(
  url: string,
  onChanged: (taskId: string) => void,
  onError: (error: unknown) => void,
) {
  const closing = new AbortController();
  let hears = false;

  const listen = async (): Promise<void> => {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, closing.signal]);
    const client = new Client({
      connectionString: url,
      application_name: 'api listener',
      connectionTimeoutMillis: 2_000,
      query_timeout: answerMs,
      ...keepAlive,
    });
    client.on('error', (error) => lost.abort(error));
    client.on('end', () => lost.abort(new Error('The listening connection was closed.')));
    client.on('notification', ({ payload }) => onChanged(payload ?? ''));
    try {
      await client.connect();
      await client.query('listen task_changed');
      hears = true;
      // A connection that only listens does not notice that its server is gone. So a query is sent
      // every `checkMs`.
      for await (const _ of setInterval(checkMs, null, { signal })) await client.query('select 1');
    } catch (error) {
      if (!closing.signal.aborted) onError(lost.signal.reason ?? error);
    } finally {
      hears = false;
      throwAway(client);
    }
  };
  const listening = (async () => {
    while (!closing.signal.aborted) {
      await listen();
      await setTimeout(reconnectMs, null, { signal: closing.signal }).catch(() => undefined);
    }
  })();

  return {
    hears: () => hears,
    close() {
      closing.abort();
      return listening;
    },
  };
}
