// How a bare process lives: it says when its worker runs, and ends with the bench or with a sentence.

import type { Worker } from '@temporalio/worker';

/** `start` makes the worker and everything that has to be there before it is told to be ready. */
export function runBare(start: () => Promise<Worker>): void {
  live(start).catch(failBare);
}

export function failBare(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
}

async function live(start: () => Promise<Worker>): Promise<void> {
  const worker = await start();
  process.once('disconnect', () => process.exit(0));
  const running = worker.run();
  process.send?.('ready');
  await running;
}
