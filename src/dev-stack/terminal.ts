// Tells whether the development stack ends when its terminal is closed.

import { fstatSync } from 'node:fs';

/** False if the output goes to a file, because nohup asks to go on. */
export function endsWithTerminal(): boolean {
  const out = fstatSync(1);
  return process.stdout.isTTY || out.isFIFO() || out.isSocket();
}
