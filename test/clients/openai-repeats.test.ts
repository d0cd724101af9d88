// What becomes of the repeats that OpenAI's clients make by themselves, without an Idempotency-Key:
// after a lost answer, and after a refusal. The clients for Python and for Node run unchanged.

import { join } from 'node:path';
import { create, startApi, type TestApi } from '../support/api';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { hasTool, npmPackages, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the packages on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');

let api: TestApi;
let proxy: FaultProxy;
beforeEach(async () => {
  api = await startApi({ queuedTasksMax: 2 });
  proxy = await startFaultProxy(api.url);
});
afterEach(async () => {
  await proxy?.close();
  await api?.close();
});

type Client = (prompt: string, count: number) => Promise<(string | number)[]>;

async function run(command: string, args: string[], env = {}) {
  const program = runProgram(command, args, { env });
  if ((await program.code) !== 0) throw new Error(program.err());
  return JSON.parse(program.out().trim().split('\n').at(-1) ?? '');
}

const clients: readonly (readonly [name: string, client: Client])[] = [
  [
    'Node',
    async (prompt, count) =>
      run(process.execPath, [
        join(__dirname, 'openai-repeats-process.mjs'),
        await npmPackages(['openai', '7.57.0']),
        ...[proxy.url, api.apiKey, prompt, String(count)],
      ]),
  ],
  ...(python
    ? [
        [
          'Python',
          async (prompt: string, count: number) =>
            run(
              'python3',
              [
                join(__dirname, 'openai_repeats.py'),
                ...[proxy.url, api.apiKey, prompt, String(count)],
              ],
              { PYTHONPATH: await pythonPackage('openai', '3.57.0'), PYTHONIOENCODING: 'utf-8' },
            ),
        ] as const,
      ]
    : []),
];

const tasksWith = async (prompt: string) =>
  (await api.db('tasks').select('id').whereRaw(`request->>'prompt' = ?`, [prompt])).map(
    ({ id }) => id as string,
  );
/** The counts of repeats in the creates that the service got. */
const counts = () =>
  proxy.seen
    .filter(({ method }) => method === 'POST')
    .map(({ headers }) => Number(headers['x-stainless-retry-count']));

describe.each(clients)('the client of OpenAI for %s', (_, client) => {
  test('makes one task if the answers to its create and to its first repeat are lost', async () => {
    proxy.reset(/^POST /, [{ kind: 'lose' }, { kind: 'lose' }]);
    const ids = await client('lost twice', 1);
    expect(counts()).toEqual([0, 1, 2]);
    expect(await tasksWith('lost twice')).toEqual(ids);
  });

  test('makes two of five equal videos in an account that has room for two, and is refused the others at once', async () => {
    const [first, second, ...others] = await client('variations', 5);
    expect(others).toEqual([429, 429, 429]);
    expect(first).not.toBe(second);
    expect(counts()).toEqual([0, 0, 0, 0, 0]);
    expect(new Set(await tasksWith('variations'))).toEqual(new Set([first, second]));
  });

  test('is refused an equal video of one that it has read while the account is full, and then makes another one', async () => {
    const [first] = await client('again', 1);
    expect((await api.call('GET', `${create}/${first}`)).status).toBe(200);
    const [other] = await client('something else', 1);
    expect(await client('again', 1)).toEqual([429]);
    await api.finish(String(other));
    const [second] = await client('again', 1);
    expect(await tasksWith('again')).toHaveLength(2);
    expect(second).not.toBe(first);
  });

  test('makes another task after a lost connection if the equal task before was read', async () => {
    const [first] = await client('seen', 1);
    expect((await api.call('GET', `${create}/${first}`)).status).toBe(200);
    proxy.reset(/^POST /, [{ kind: 'refuse' }]);
    const [second] = await client('seen', 1);
    expect(counts()).toEqual([0, 1]);
    expect(new Set(await tasksWith('seen'))).toEqual(new Set([first, second]));
  });
});
