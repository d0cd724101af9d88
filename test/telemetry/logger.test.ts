// Tests the removal of secrets by the logger. The logger removes secret fields by their names. It
// removes keys and the secret parts of addresses from every text.

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { createLogger, type Logger } from '../../src/telemetry/logger';
import { createTestDatabase } from '../support/database';

const planted = 'planted-secret';

/** Returns the log line that this call writes. */
function written(write: (log: Logger) => void): string {
  const lines: string[] = [];
  const into = { write: (line: string) => void lines.push(line) };
  write(createLogger({ level: 'trace', format: 'json', name: 'test' }, into));
  const text = lines.join('');
  expect(() => JSON.parse(text)).not.toThrow();
  return text;
}

test.each([
  ['a secret field', { apiKey: planted }],
  ['a secret field of a field', { account: { webhookSecret: planted } }],
  ['a secret field two levels down', { request: { headers: { authorization: planted } } }],
  ['a prompt', { request: { prompt: planted } }],
  ['the query of an address', { url: `https://media.example/a.png?sign=${planted}` }],
  ['the fragment of an address', { where: [`https://media.example/a.png#${planted}`] }],
  ['the password of an address', { error: `cannot reach postgres://video:${planted}@db/video` }],
  ['a bearer token', { said: `Authorization: Bearer ${planted}` }],
  ['an API key in a text', { why: `the key vk_${planted} is unknown` }],
  ['a webhook secret in a text', { why: `signed with whsec_${planted}` }],
])('the logger removes %s', (_, fields) => {
  const text = written((log) => log.info(fields, 'something'));
  expect(text).not.toContain(planted);
  expect(text).toContain('something');
});

// Such texts block the process if a regular expression searches again from each character.
test.each([
  ['letters', 'a'.repeat(500_000)],
  ['schemes', 'a://'.repeat(125_000)],
  ['slashes', '://'.repeat(170_000)],
  ['question marks', '?'.repeat(500_000)],
])('a long text of %s is logged in a short time', (_, text) => {
  const line = written((log) => log.info({ code: `${text} ://` }, 'something'));
  expect(line).toContain('something');
});

test('the logger keeps the host and path of a URL', () => {
  const text = written((log) => log.info({ url: 'https://media.example/a/b.png?sign=1' }, 'read'));
  expect(JSON.parse(text).url).toBe('https://media.example/a/b.png?…');
});

test('the logger removes secrets from a message too', () => {
  const text = written((log) => log.warn(`POST https://hook.example/in?token=${planted} failed`));
  expect(JSON.parse(text).msg).toBe('POST https://hook.example/in?… failed');
});

test('an error is logged with its kind, message, code, stack and cause, and nothing else', () => {
  const cause = Object.assign(new TypeError('the cause'), { body: planted });
  const error = Object.assign(new Error('it broke', { cause }), {
    code: 'EBROKEN',
    detail: `Failing row contains (${planted}).`,
    request: { prompt: planted },
  });
  const text = written((log) => log.error({ err: error }, 'trouble'));
  expect(text).not.toContain(planted);
  expect(JSON.parse(text).err).toMatchObject({
    type: 'Error',
    message: expect.stringContaining('it broke'),
    code: 'EBROKEN',
    stack: expect.stringContaining('logger.test'),
    cause: { type: 'TypeError', message: 'the cause' },
  });
});

test('a failed statement is logged without its values', async () => {
  const database = await createTestDatabase(1);
  try {
    const error = await database.db
      .raw('insert into accounts (id, name) values (?, ?), (?, ?)', ['a', planted, 'a', planted])
      .catch((thrown: unknown) => thrown);
    const text = written((log) => log.error({ err: error }, 'a statement failed'));
    expect(text).not.toContain(planted);
    expect(JSON.parse(text).err).toMatchObject({ code: '23505' });
  } finally {
    await database.drop();
  }
});

describe('the buffered log of an API', () => {
  /**
   * Runs a process that logs two lines and then this code. Returns the messages that were written.
   */
  function messagesUntil(end: string): string[] {
    const logger = resolve(__dirname, '../../dist/src/telemetry/logger.js');
    const code = `
      const { createLogger } = require(${JSON.stringify(logger)});
      const log = createLogger({ level: 'info', format: 'json', name: 'api' });
      log.info('first'); log.info('second');
      const kill = () => process.kill(process.pid, 'SIGKILL');
      ${end}`;
    const { stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  }

  test.each([
    ['loses the lines that are not yet written if the process is killed', 'kill()', []],
    [
      'is written at once if a line is a warning',
      `log.child({}).warn('third'); kill()`,
      ['first', 'second', 'third'],
    ],
    ['is written within three seconds', 'setTimeout(kill, 3_000)', ['first', 'second']],
    ['is written when the process exits', 'process.exit()', ['first', 'second']],
  ])('%s', (_, end, expected) => {
    expect(messagesUntil(end)).toEqual(expected);
  });
});
