// Reads the instructions of each stage of our Dockerfile, for tests that compare them or run them.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The instructions of a stage, each on one line, such as `RUN npm ci`. */
export function stageOf(name: string): string[] {
  const lines = readFileSync(resolve(__dirname, '../../Dockerfile'), 'utf8')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const start = lines.findIndex((line) => line.startsWith('FROM ') && line.endsWith(` AS ${name}`));
  if (start < 0) throw new Error(`The Dockerfile has no stage ${name}.`);
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('FROM '));
  return lines.slice(start, length < 0 ? undefined : start + 1 + length);
}

/** The rest of each instruction that begins with this word. */
export function allOf(lines: readonly string[], word: string): string[] {
  return lines
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(word.length + 1));
}

export function environmentIn(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    allOf(lines, 'ENV').flatMap((line) =>
      [...line.matchAll(/(\w+)=(\S+)/g)].map(([, key, value]) => [key, value]),
    ),
  );
}
