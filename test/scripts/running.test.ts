// Tests scripts/running.mjs. The script prints a value of a running `npm start` for shell commands.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'running-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const script = resolve(__dirname, '../../scripts/running.mjs');
const running = async (...names: string[]) => {
  const env = { PATH: process.env.PATH, DATA_DIR: folder };
  const done = promisify(execFile)(process.execPath, [script, ...names], { env });
  return done.catch(({ code, stdout, stderr }) => ({ code, stdout, stderr }));
};
const write = (text: string) => writeFileSync(join(folder, 'dev.json'), text);

test('`running.mjs` prints a value of the running stack', async () => {
  write(JSON.stringify({ apiUrl: 'http://127.0.0.1:8080', pids: { stack: process.pid } }));
  expect(await running('apiUrl')).toEqual({ stdout: 'http://127.0.0.1:8080\n', stderr: '' });
});

test('`running.mjs` refuses a name that does not exist and lists the valid names', async () => {
  write(JSON.stringify({ apiUrl: 'x', apiKey: 'y', pids: { stack: process.pid } }));
  for (const names of [['apiurl'], ['pids'], []]) {
    expect(await running(...names)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(`^.*"${names[0] ?? ''}".* apiUrl, apiKey\\.\n$`),
    });
  }
});

test.each([
  ['is missing', () => undefined],
  ['is incomplete', () => write('{"pids":')],
  ['names no process', () => write('{"apiUrl":"x"}')],
  ['belongs to a stack that has ended', () => write('{"apiUrl":"x","pids":{"stack":999999999}}')],
])('`running.mjs` says that no stack runs if `dev.json` %s', async (_what, prepare) => {
  prepare();
  expect(await running('apiUrl')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(`^.* runs in ${folder}.* DATA_DIR .* first terminal.*\n$`),
  });
});
