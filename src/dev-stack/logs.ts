// The output of the stack's parts. Each part has its own log file, which gets every line of the
// part. Warnings and errors also go to the terminal.

import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { unprintable } from '../commands/admin/tables';

export interface StackLogs {
  take(part: string, line: string): void;
  close(): Promise<void>;
}

// The level comes first in a log line. So this pattern finds warnings and errors, and other lines
// are not parsed: an API writes thousands of lines per second.
const isShown = /^\{"level":"(?:warn|error|fatal)"/;

export function openLogs(folder: string, show: (line: string) => void): StackLogs {
  mkdirSync(folder, { recursive: true });
  const files = new Map<string, WriteStream>();
  const fileOf = (part: string) => {
    let file = files.get(part);
    if (!file) {
      file = createWriteStream(join(folder, `${part}.log`), { flags: 'a' });
      // A full disk must not stop the stack. Lines are then lost.
      file.on('error', () => undefined);
      files.set(part, file);
    }
    return file;
  };
  return {
    take(part, line) {
      fileOf(part).write(`${line}\n`);
      for (const shown of sentencesOf(line)) show(`${part}: ${shown}`);
    },
    async close() {
      await Promise.all([...files.values()].map((file) => new Promise((done) => file.end(done))));
    },
  };
}

// The fields of a log line that the terminal shows after the message.
const subjects = ['channel', 'operation', 'code', 'param', 'task', 'why'];

// The errors whose message tells an operator line by line what to correct. Of other errors only the
// first line is shown: the rest may be the text of an SQL statement.
const correctable = ['CatalogueError', 'CommandError', 'ConfigError'];

/** A warning or error as readable lines; none for every other line. */
function sentencesOf(line: string): readonly string[] {
  if (!isShown.test(line)) return [];
  try {
    const entry = JSON.parse(line) as Record<string, unknown>;
    const { type = '', message } = (entry.err ?? {}) as { type?: string; message?: string };
    const [cause, ...more] = message?.split('\n') ?? [];
    const rest = correctable.includes(type) ? more.map((text) => `  ${text.trim()}`) : [];
    const named = subjects.filter((name) => typeof entry[name] === 'string');
    const about = [cause, ...named.map((name) => `${name} ${String(entry[name])}`)].filter(Boolean);
    const detail = about.length > 0 ? ` (${about.join(', ')})` : '';
    // A provider may choose a code with any characters, so unprintable characters are replaced.
    const sentences = [`${String(entry.level)}: ${String(entry.msg)}${detail}`, ...rest];
    return sentences.map((sentence) => sentence.replace(unprintable, ' '));
  } catch {
    return [];
  }
}

/**
 * The last line that may explain why a part ended: a warning, an error, or a line that is not a log
 * line. Null if there is no such line.
 */
export function reasonIn(lastWords: string): string | null {
  const reasons = lastWords
    .split('\n')
    .map((line) => (line.startsWith('{') ? sentencesOf(line).map(trimmed).join(' ') : line.trim()))
    .filter((line) => line);
  return reasons.at(-1)?.slice(0, 300) ?? null;
}

const trimmed = (text: string) => text.trim();
