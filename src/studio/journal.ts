/*
 * What survives `kill -9`: one file, one JSON line per change, written before the change is
 * answered. No fsync: the operating system has the bytes once write() returned, and a machine that
 * loses power may lose the last second of a development studio. A line that was cut short is
 * skipped when read; a write that failed half-way is closed off by the newline the next one starts
 * with.
 */

import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

interface Journal {
  /** Throws when the disk is full: then the change has not happened. */
  append(line: unknown): void;
  /** Replaces everything written so far by these lines, in one step. */
  rewrite(lines: Iterable<unknown>): void;
  lineCount(): number;
  close(): void;
}

/** Opens the journal and hands every line of the past to `replay`, in order. */
export function openJournal(folder: string, replay: (line: unknown) => void): Journal {
  const path = join(folder, 'journal.jsonl');
  const past = existsSync(path) ? readFileSync(path, 'utf8') : '';
  let lines = 0;
  for (const text of past.split('\n')) {
    const line = parse(text);
    if (line === undefined) continue;
    lines += 1;
    replay(line);
  }
  let file = openSync(path, 'a');
  // The last run may have been killed in the middle of a line.
  let needsNewline = past !== '';

  function append(line: unknown): void {
    const bytes = Buffer.from(`${needsNewline ? '\n' : ''}${JSON.stringify(line)}\n`);
    needsNewline = true;
    writeFully(file, bytes);
    needsNewline = false;
    lines += 1;
  }

  function rewrite(kept: Iterable<unknown>): void {
    const fresh = `${path}.new`;
    const target = openSync(fresh, 'w');
    let count = 0;
    try {
      for (const line of kept) {
        writeFully(target, Buffer.from(`${JSON.stringify(line)}\n`));
        count += 1;
      }
      renameSync(fresh, path);
    } catch (error) {
      closeSync(target);
      rmSync(fresh, { force: true });
      throw error;
    }
    closeSync(file);
    file = target;
    lines = count;
    needsNewline = false;
  }

  return { append, rewrite, lineCount: () => lines, close: () => closeSync(file) };
}

function writeFully(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written, bytes.length - written);
  }
}

function parse(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
