/*
 * The journal: one file with one JSON line per change, written before the change is answered, so
 * that `kill -9` loses nothing. There is no fsync: a machine that loses power may lose the last
 * second. A line that was cut short is skipped when read, and the next one starts with a newline.
 */

import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Opens the journal and passes every line to `replay`, in order. */
export function openJournal(folder: string, replay: (line: unknown) => void) {
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
  // The last process may have been killed in the middle of a line.
  let needsNewline = past !== '';

  /** Throws if the disk is full: then the change has not happened. */
  function append(line: unknown): void {
    const text = `${needsNewline ? '\n' : ''}${JSON.stringify(line)}\n`;
    needsNewline = true;
    writeFileSync(file, text);
    needsNewline = false;
    lines += 1;
  }

  /** Replaces the whole journal by these lines, atomically. */
  function rewrite(kept: Iterable<unknown>): void {
    const fresh = `${path}.new`;
    const target = openSync(fresh, 'w');
    let count = 0;
    try {
      for (const line of kept) {
        writeFileSync(target, `${JSON.stringify(line)}\n`);
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

function parse(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
