// The calls of a quiet account beside other work.

import { setTimeout as pause } from 'node:timers/promises';
import { type Account, models, type World } from '../world';
import { openWire, requestText } from './http-load';
import { createText, readText } from './tasks';

/** Times in milliseconds. */
export interface Quiet {
  readonly creates: number[];
  readonly reads: number[];
  readonly lists: number[];
}

/** Creates, reads and lists of a quiet account until something is done, in milliseconds. */
export async function timeQuiet(
  { apiUrl }: World,
  account: Account,
  done: Promise<unknown>,
  took: Quiet,
): Promise<void> {
  const { hostname, port } = new URL(apiUrl);
  const wire = await openWire(hostname, Number(port));
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const list = requestText('GET', '/v1/tasks?limit=20', headers);
  const call = async (text: string, into: number[]) => {
    const began = performance.now();
    const { status, body } = await wire.exchange(text);
    into.push(performance.now() - began);
    if (status !== 200) throw new Error(`A quiet account was answered with ${status}: ${body}`);
    return body;
  };
  let isDone = false;
  const end = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const { id } = JSON.parse(await call(createText(account, models.instant), took.creates));
    for (let nth = 0; nth < 2; nth += 1) {
      await call(readText(account, id), took.reads);
      await call(list, took.lists);
      await pause(20);
    }
  }
  await end;
  wire.close();
}
