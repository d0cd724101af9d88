// Runs a bare process: it reports when its worker is ready and ends together with the bench.

import type { Worker } from '@temporalio/worker';

/** `start` creates the worker and everything it needs before it reports ready. */
export function runBare(start: () => Promise<Worker>): void {
  live(start).catch(failBare);
}

function failBare(error: unknown): void {
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
