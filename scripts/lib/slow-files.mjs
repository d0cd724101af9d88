// Prints the slowest test files of a run, with the time that each waited for its servers to start.

import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './run.mjs';

const shown = 12;

/** `starts` has a line for each start: its milliseconds and its test file (test/support/starting.ts). */
export function printSlowFiles(testResults, starts) {
  const waited = new Map();
  for (const line of existsSync(starts) ? readFileSync(starts, 'utf8').split('\n') : []) {
    const [, ms, file] = /^(\d+) (.+)$/.exec(line) ?? [];
    if (file) waited.set(file, (waited.get(file) ?? 0) + Number(ms));
  }
  const files = testResults
    .map(({ name, startTime, endTime }) => ({
      name: relative(root, name),
      ms: endTime - startTime,
      startsMs: waited.get(name) ?? 0,
    }))
    .sort((a, b) => b.ms - a.ms);
  const sum = (key) => files.reduce((total, file) => total + file[key], 0);
  const all = { name: `all ${files.length} files`, ms: sum('ms'), startsMs: sum('startsMs') };
  const row = (name, seconds, starts) =>
    `${name.padEnd(50)}${seconds.padStart(9)}${starts.padStart(18)}\n`;
  const seconds = (ms) => (ms / 1000).toFixed(1);
  process.stdout.write(row('slowest files', 'seconds', 'of them starting'));
  for (const { name, ms, startsMs } of [...files.slice(0, shown), all]) {
    process.stdout.write(row(name, seconds(ms), seconds(startsMs)));
  }
}
