// What of a part's lines a person at the terminal gets to see, and what is kept of all of them.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogs, reasonIn } from '../src/commands/stack-logs';
import { createLogger } from '../src/telemetry';

/** As a part of the stack writes it. */
function lines(write: (log: ReturnType<typeof createLogger>) => void): string[] {
  const written: string[] = [];
  const output = { write: (line: string) => void written.push(line.trimEnd()) };
  write(createLogger({ level: 'debug', format: 'json', name: 'worker' }, output));
  return written;
}

test('warnings and errors are shown as sentences, everything is kept in the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-logs-'));
  const shown: string[] = [];
  const logs = openLogs(folder, (line) => void shown.push(line));
  const said = [
    ...lines((log) => {
      log.debug('a detail');
      log.info({ level: 'error' }, 'a request');
      log.warn('it is slow');
      log.error({ err: new Error('the disk is full\nat line 1') }, 'it failed');
    }),
    '{"level":"warn", and cut',
    'no line of ours',
  ];
  for (const line of said) logs.take('worker', line);
  await logs.close();
  expect(shown).toEqual([
    'worker: warn: it is slow',
    'worker: error: it failed (the disk is full)',
  ]);
  expect(await readFile(join(folder, 'worker.log'), 'utf8')).toBe(`${said.join('\n')}\n`);
  await rm(folder, { recursive: true });
});

test('the reason of an end is the last thing said that may be one', () => {
  const last = lines((log) => {
    log.error('no database');
    log.info('stopping');
  });
  expect(reasonIn(last.join('\n'))).toBe('error: no database');
  expect(reasonIn([...last, 'Killed'].join('\n'))).toBe('Killed');
  expect(reasonIn('')).toBeNull();
});
