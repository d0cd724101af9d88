/*
 * The journal: one file with one JSON line per change, written before the change is answered, so
 * that `kill -9` loses nothing. There is no fsync: a machine that loses power may lose the last
 * second. A line that was cut short is skipped when read, and the next one starts with a newline.
 */

import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lines of earlier runs, in order. */
export function readJournal(folder: string): unknown[] {
  const path = pathIn(folder);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').flatMap(parse);
}

/** Replaces the journal by these lines, atomically, and opens it. Throws if the disk is full. */
export function openJournal(folder: string, kept: Iterable<unknown>) {
  const fresh = `${pathIn(folder)}.new`;
  const file = openSync(fresh, 'w');
  for (const line of kept) writeFileSync(file, `${JSON.stringify(line)}\n`);
  renameSync(fresh, pathIn(folder));
  let needsNewline = false;

  /** Throws if the disk is full: then the change has not happened. */
  function append(line: unknown): void {
    const text = `${needsNewline ? '\n' : ''}${JSON.stringify(line)}\n`;
    needsNewline = true;
    writeFileSync(file, text);
    needsNewline = false;
  }

  return { append, close: () => closeSync(file) };
}

function pathIn(folder: string): string {
  return join(folder, 'journal.jsonl');
}

function parse(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}
