// What the reading commands of `videos` ask of the service, and the texts that they print.

import { VideoError } from '../../clients/typescript/src';
import { readArguments } from '../../clients/typescript/src/cli/arguments';
import { createRead, reads } from '../../clients/typescript/src/cli/reads';
import { webServers } from '../support/web-servers';

const startServer = webServers();

const model = (id: string) => ({
  id,
  plain_video: { resolution: '720p', price_per_second: '0.100000', currency: 'USD' },
});
const webhook = (id: string) => ({ id, url: `https://a/${id}`, events: ['succeeded', 'failed'] });
const file = { id: 'file_1', created_at: 0, kind: 'image', bytes: 5, name: 'a.png' };
const movement = (number: number) => ({
  ...{ number, at: number, kind: 'hold', change: '-1.000000', balance_after: '9.000000' },
  ...{ currency: 'USD', task_id: `task_${number}`, reason: '' },
});
const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

const answers: Readonly<Record<string, unknown>> = {
  '/v1/models': { data: [model('a'), { ...model('b'), retires: '2030-01-01' }] },
  '/v1/account': { available: '9.000000', held: '0.000000', currency: 'USD' },
  '/v1/account/statement?limit=100': { data: range(0, 100).map(movement), next: '99' },
  '/v1/account/statement?limit=20&after=99': { data: range(100, 20).map(movement), next: '119' },
  '/v1/files?limit=20': { data: [file, { ...file, id: 'file_2', name: null }], next: null },
  '/v1/files/file_1': file,
  '/v1/webhooks': { data: [webhook('x'), webhook('y')] },
};

async function printedBy(...args: string[]): Promise<string[]> {
  const host = await startServer((request, response) => {
    const isKnown = request.headers.authorization === 'Bearer key' && request.url;
    const value = isKnown ? answers[request.url ?? ''] : undefined;
    response.writeHead(value ? 200 : 404);
    response.end(JSON.stringify(value ?? { error: { code: 'file_not_found' } }));
  });
  const access = { baseUrl: `http://${host}/`, apiKey: 'key' };
  const read = createRead(access, new AbortController().signal);
  const { command, operand, values } = readArguments(args);
  const texts: string[] = [];
  for await (const text of reads[command]?.(read, operand, values) ?? []) texts.push(text);
  return texts;
}

const json = (value: unknown) => [JSON.stringify(value, null, 2)];

test.each([
  [
    ['models'],
    ['a  0.100000 USD a second of 720p', 'b  0.100000 USD a second of 720p  retires 2030-01-01'],
  ],
  [['models', 'a'], json(model('a'))],
  [['account'], json(answers['/v1/account'])],
  [
    ['files'],
    ['file_1  1970-01-01T00:00:00Z  image  5  a.png', 'file_2  1970-01-01T00:00:00Z  image  5'],
  ],
  [['files', 'file_1'], json(file)],
  [['webhooks'], ['x  succeeded,failed  https://a/x', 'y  succeeded,failed  https://a/y']],
  [['webhooks', 'y'], json(webhook('y'))],
])('%j prints what the service has', async (args, texts) => {
  expect(await printedBy(...args)).toEqual(texts);
});

test('`statement --limit` reads pages until it has that many movements', async () => {
  const texts = await printedBy('statement', '--limit', '120');
  expect(texts).toHaveLength(120);
  expect(texts[119]).toBe('1970-01-01T00:01:59Z  hold          -1.000000  9.000000 USD  task_119');
});

test('a name that is not in the list, and a file that is not there, are failures', async () => {
  await expect(printedBy('models', 'c')).rejects.toThrow('There is no "c"');
  await expect(printedBy('files', 'file_9')).rejects.toThrow(VideoError);
});

test.each([
  [['models', 'a', 'b'], 'models takes at most 1 operand.'],
  [['account', 'a'], 'account takes 0 operands.'],
  [['create'], 'create takes 1 operand.'],
  [['toString'], 'There is no command "toString".'],
])('%j is a wrong use', (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});
