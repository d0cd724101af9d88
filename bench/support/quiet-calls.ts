// Sends the calls of a quiet account while other work runs, and times each call. The account sends
// about eight creates a second, and four reads of each task.

import { setTimeout as pause } from 'node:timers/promises';
import { type Account, models } from '../world';
import { openWire, requestText } from './http-load';
import { createText, readText } from './tasks';

// Enough calls for a p99: among fewer than a hundred calls, the p99 would be the maximum.
const readsOfEach = 4;
const readEveryMs = 25;

/** The times of calls in milliseconds, by kind. */
export interface Calls {
  readonly POST: number[];
  readonly GET: number[];
  /** If this array is present, a list is requested after each read. */
  readonly list?: number[];
}

/** Calls until `done` is settled, and adds the times to `took`. */
export async function timeCalls(
  url: string,
  account: Account,
  took: Calls,
  done: Promise<unknown>,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const wire = await openWire(hostname, Number(port));
  const timed = async (text: string, into: number[]): Promise<string> => {
    const began = performance.now();
    const { status, body } = await wire.exchange(text);
    into.push(performance.now() - began);
    if (status === 200) return body;
    throw new Error(`A quiet account was answered with ${status}: ${body}`);
  };
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const list = requestText('GET', '/v1/tasks?limit=20', headers);
  let isDone = false;
  const end = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const created = await timed(createText(account, models.instant), took.POST);
    const read = readText(account, (JSON.parse(created) as { id: string }).id);
    for (let reads = 0; reads < readsOfEach && !isDone; reads += 1) {
      await timed(read, took.GET);
      if (took.list) await timed(list, took.list);
      await pause(readEveryMs);
    }
  }
  await end;
  wire.close();
}
