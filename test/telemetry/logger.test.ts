// What the logger cuts out, whatever hands it in: fields by their names, and keys and addresses
// wherever they stand.

import { createLogger, type Logger } from '../../src/telemetry';
import { createTestDatabase } from '../support/database';

const planted = 'planted-secret';

/** What is written when this is logged. */
function written(write: (log: Logger) => void): string {
  const lines: string[] = [];
  const into = { write: (line: string) => void lines.push(line) };
  write(createLogger({ level: 'trace', format: 'json', name: 'test' }, into));
  const text = lines.join('');
  expect(() => JSON.parse(text)).not.toThrow();
  return text;
}

test.each([
  ['a field', { apiKey: planted }],
  ['a field of a field', { account: { webhookSecret: planted } }],
  ['a field two levels down', { request: { headers: { authorization: planted } } }],
  ['a prompt', { request: { prompt: planted } }],
  ['the query of an address', { url: `https://media.example/a.png?sign=${planted}` }],
  ['the fragment of an address', { where: [`https://media.example/a.png#${planted}`] }],
  ['the password of an address', { error: `cannot reach postgres://video:${planted}@db/video` }],
  ['a bearer token', { said: `Authorization: Bearer ${planted}` }],
  ['an API key in a text', { why: `the key vk_${planted} is unknown` }],
  ['a webhook secret in a text', { why: `signed with whsec_${planted}` }],
])('%s is cut out', (_, fields) => {
  const text = written((log) => log.info(fields, 'something'));
  expect(text).not.toContain(planted);
  expect(text).toContain('something');
});

test('an address keeps its host and path', () => {
  const text = written((log) => log.info({ url: 'https://media.example/a/b.png?sign=1' }, 'read'));
  expect(JSON.parse(text).url).toBe('https://media.example/a/b.png?…');
});

test('a message is cleaned as fields are', () => {
  const text = written((log) => log.warn(`POST https://hook.example/in?token=${planted} failed`));
  expect(JSON.parse(text).msg).toBe('POST https://hook.example/in?… failed');
});

test('an error tells its kind, text, code, place and cause, and nothing that hangs on it', () => {
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

test('a failed statement is told without its values', async () => {
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
