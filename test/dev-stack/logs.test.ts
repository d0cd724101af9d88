// Tests the output of the parts of a stack. The terminal shows only some lines. A file per part
// keeps all lines.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CatalogueError } from '../../src/catalogue/file';
import { CommandError } from '../../src/commands/command';
import { openLogs, reasonIn } from '../../src/dev-stack/logs';
import { createLogger } from '../../src/telemetry/logger';

/** Returns log lines in the form in which a part of the stack writes them. */
function lines(write: (log: ReturnType<typeof createLogger>) => void): string[] {
  const written: string[] = [];
  const output = { write: (line: string) => void written.push(line.trimEnd()) };
  write(createLogger({ level: 'debug', format: 'json', name: 'worker' }, output));
  return written;
}

test('the terminal shows warnings and errors as sentences, and the file keeps all lines', async () => {
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

test('the terminal shows every line of a fault that an operator can correct', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-logs-'));
  const shown: string[] = [];
  const logs = openLogs(folder, (line) => void shown.push(line));
  const err = new CatalogueError('catalogue.yaml', [
    'currency: is missing',
    'models: \u001bis empty',
  ]);
  const said = lines((log) => {
    log.error({ event: 'reload_refused', err }, 'could not reload');
    log.error(
      { err: new CommandError('KEY_A is not set.\nKEY_B is not set.') },
      'could not reload',
    );
  });
  for (const line of said) logs.take('worker', line);
  await logs.close();
  expect(shown).toEqual([
    'worker: error: could not reload (catalogue.yaml cannot be used:)',
    'worker:   currency: is missing',
    'worker:   models:  is empty',
    'worker: error: could not reload (KEY_A is not set.)',
    'worker:   KEY_B is not set.',
  ]);
  expect(reasonIn(said[1] ?? '')).toBe(
    'error: could not reload (KEY_A is not set.) KEY_B is not set.',
  );
  await rm(folder, { recursive: true });
});

test('the terminal shows the task, the channel and the code of a warning', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-logs-'));
  const shown: string[] = [];
  const logs = openLogs(folder, (line) => void shown.push(line));
  const refused = { channel: 'studio', operation: 'create', code: 'InvalidParameter' };
  const said = lines((log) => {
    log.warn({ event: 'upstream', task: 'task_1', ...refused, ms: 12 }, 'upstream fault');
    log.warn({ task: 'task_2', role: 'video', why: 'HTTP_500' }, 'a result is not stored yet');
    log.error({ err: new Error('the disk is full'), task: 'task_3' }, 'it failed');
    log.warn({ code: 'red\u001b[31m\nnext\u202eend' }, 'upstream fault');
  });
  for (const line of said) logs.take('worker', line);
  await logs.close();
  expect(shown).toEqual([
    'worker: warn: upstream fault (channel studio, operation create, code InvalidParameter, task task_1)',
    'worker: warn: a result is not stored yet (task task_2, why HTTP_500)',
    'worker: error: it failed (the disk is full, task task_3)',
    'worker: warn: upstream fault (code red [31m next end)',
  ]);
  await rm(folder, { recursive: true });
});

test('the reported cause of an exit is the last line that is a warning, an error, or not in the log format', () => {
  const last = lines((log) => {
    log.error('no database');
    log.info('stopping');
  });
  expect(reasonIn(last.join('\n'))).toBe('error: no database');
  expect(reasonIn([...last, 'Killed'].join('\n'))).toBe('Killed');
  expect(reasonIn('')).toBeNull();
});
