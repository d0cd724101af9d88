// The calls of a quiet account beside other work, each timed: about eight creates a second, and four
// reads of each task.

import { setTimeout as pause } from 'node:timers/promises';
import { type Account, models } from '../world';
import { openWire, requestText } from './http-load';
import { createText, readText } from './tasks';

// Hundreds of calls of each kind in a measurement, because the p99 of fewer is their maximum.
const readsOfEach = 4;
const readEveryMs = 25;

/** Times in milliseconds. */
export interface Calls {
  readonly POST: number[];
  readonly GET: number[];
  /** If it is present, one list is called after each read. */
  readonly list?: number[];
}

/** Adds to `took` until `done` is settled. */
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
