// Counts the time that a test file waits for its servers, for the table of slow files at the end of a
// run (scripts/lib/slow-files.mjs). Starts inside of another start, or at the same time, count once.

import { appendFileSync } from 'node:fs';

let running = 0;
let beganAt = 0;

export async function starting<Server>(start: () => Promise<Server>): Promise<Server> {
  if (running === 0) beganAt = performance.now();
  running += 1;
  try {
    return await start();
  } finally {
    running -= 1;
    if (running === 0) record(performance.now() - beganAt);
  }
}

function record(ms: number): void {
  const file = process.env.TEST_STARTS_FILE;
  if (file) appendFileSync(file, `${Math.round(ms)} ${expect.getState().testPath}\n`);
}
