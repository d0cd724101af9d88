// The calls of a quiet account, each timed: about eight creates a second, and four reads of each task.

import { setTimeout as pause } from 'node:timers/promises';
import { type Account, models } from '../world';
import { openWire } from './http-load';
import { createText, readText } from './tasks';

// Hundreds of calls of each kind in a measurement, because the p99 of fewer is their maximum.
const readsOfEach = 4;
const readEveryMs = 25;

export interface Calls {
  readonly POST: number[];
  readonly GET: number[];
}

/** Adds to `took`, in milliseconds, until something is done. */
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
  let isDone = false;
  const end = done.then(() => {
    isDone = true;
  });
  while (!isDone) {
    const created = await timed(createText(account, models.instant), took.POST);
    const read = readText(account, (JSON.parse(created) as { id: string }).id);
    for (let reads = 0; reads < readsOfEach && !isDone; reads += 1) {
      await timed(read, took.GET);
      await pause(readEveryMs);
    }
  }
  await end;
  wire.close();
}
