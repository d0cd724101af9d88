/*
 * The journal is one file with one JSON line per change. The studio writes a line before it answers
 * the request, so `kill -9` loses nothing. There is no fsync, so a power failure may lose the last
 * second. A failed write may leave an incomplete line. The next line then starts with a newline,
 * and readers skip the incomplete line.
 */

import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the lines of earlier runs, in order. */
export function readJournal(folder: string): unknown[] {
  const path = pathIn(folder);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').flatMap(parse);
}

/**
 * Atomically replaces all lines of the journal by `kept`, and opens the journal. Throws if the disk
 * is full.
 */
export function openJournal(folder: string, kept: Iterable<unknown>) {
  const fresh = `${pathIn(folder)}.new`;
  const file = openSync(fresh, 'w');
  for (const line of kept) writeFileSync(file, `${JSON.stringify(line)}\n`);
  renameSync(fresh, pathIn(folder));
  let needsNewline = false;

  /** Throws if the disk is full. The caller must then not make the change. */
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
