// Runs a worker in a process of its own. The process tells the bench when the worker is ready. The
// process ends when the bench ends.

import type { Worker } from '@temporalio/worker';

/** `start` creates the worker and everything that the worker needs. */
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
