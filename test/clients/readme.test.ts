// Runs the programs of README.md as a user who has installed the packages.

import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasTool, pythonPackage } from '../support/foreign';
import { blocksOf, callsOf } from '../support/markdown';
import { runProgram } from '../support/program';
import { type Service, startService } from '../support/service';

// Long enough to download the packages on a new machine.
jest.setTimeout(300_000);

const root = join(__dirname, '../..');
const python = hasTool('python3', '-m', 'pip', '--version');

let service: Service;
let folder: string;
let blocks: ReturnType<typeof blocksOf>;
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'video-readme-'));
  blocks = blocksOf(await readFile(join(root, 'README.md'), 'utf8'));
  const installed = join(folder, 'node_modules');
  await mkdir(join(installed, '.bin'), { recursive: true });
  await symlink(join(root, 'clients/typescript'), join(installed, 'video-generation-client'));
  const main = '../video-generation-client/dist/cli/main.js';
  await writeFile(
    join(installed, '.bin/videos'),
    `#!/bin/sh\nexec node "$(dirname "$0")/${main}" "$@"\n`,
    { mode: 0o755 },
  );
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(language: string, file: string, command: string, env = {}) {
  const block = blocks.find((one) => one.language === language && one.label === 'client');
  await writeFile(join(folder, file), block?.text ?? '');
  const program = runProgram(command, [file], {
    cwd: folder,
    env: { BASE_URL: service.url, API_KEY: service.apiKey, ...env },
  });
  return { code: await program.code, out: program.out(), err: program.err() };
}

async function newest() {
  return (await service.call('GET', '/v1/tasks?limit=1')).json.data[0];
}

test('the program in JavaScript prints the address of the video', async () => {
  const { code, out, err } = await run('js', 'use.mjs', process.execPath);
  expect([code, err]).toEqual([0, '']);
  expect(out.trim()).toBe((await newest()).video_url);
});

(python ? test : test.skip)('the program in Python prints the address of the video', async () => {
  const path = `${join(root, 'clients/python')}:${await pythonPackage('httpx', '0.28.1')}`;
  const { code, out, err } = await run('python', 'use.py', 'python3', { PYTHONPATH: path });
  expect([code, err]).toEqual([0, '']);
  expect(out.trim()).toBe((await newest()).video_url);
});

test('the command line saves the video', async () => {
  const { code, out } = await run('sh', 'use.sh', 'sh');
  expect([code, out]).toEqual([0, 'film.mp4\n']);
  expect((await stat(join(folder, 'film.mp4'))).size).toBeGreaterThan(1_000);
});

test('the create with curl is accepted', async () => {
  const calls = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => callsOf(text));
  const create = calls.find(({ method }) => method === 'POST');
  const reply = await service.call('POST', create?.path ?? '', create?.body, {
    'content-type': create?.headers['content-type'] ?? '',
  });
  expect(reply.status).toBe(200);
});
