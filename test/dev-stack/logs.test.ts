// The lines of a part that are shown on the terminal, and the file that keeps all of them.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogs, reasonIn } from '../../src/dev-stack/logs';
import { createLogger } from '../../src/telemetry/logger';

/** A line as a part of the stack writes it. */
function lines(write: (log: ReturnType<typeof createLogger>) => void): string[] {
  const written: string[] = [];
  const output = { write: (line: string) => void written.push(line.trimEnd()) };
  write(createLogger({ level: 'debug', format: 'json', name: 'worker' }, output));
  return written;
}

test('the terminal shows warnings and errors as sentences, the file keeps everything', async () => {
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

test('the reported cause of an exit is the last warning, or the last line that is not a log line', () => {
  const last = lines((log) => {
    log.error('no database');
    log.info('stopping');
  });
  expect(reasonIn(last.join('\n'))).toBe('error: no database');
  expect(reasonIn([...last, 'Killed'].join('\n'))).toBe('Killed');
  expect(reasonIn('')).toBeNull();
});
