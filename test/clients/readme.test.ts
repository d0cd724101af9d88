// Runs the programs of README.md as a user who has installed the packages.

import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasTool, pythonPackage } from '../support/foreign';
import { blocksOf } from '../support/markdown';
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

async function run(language: string, file: string, command: string, env = {}, label = 'client') {
  const block = blocks.find((one) => one.language === language && one.label === label);
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

(python ? test : test.skip)('the program with the client of OpenAI saves the video', async () => {
  const env = { PYTHONPATH: await pythonPackage('openai', '3.57.0') };
  // The client warns that the video models of OpenAI end.
  const { code } = await run('python', 'openai-use.py', 'python3', env, 'openai');
  expect(code).toBe(0);
  const saved = await readFile(join(folder, 'boat.mp4'));
  const link = (await newest()).video_url;
  expect(saved.equals(Buffer.from(await (await fetch(link)).arrayBuffer()))).toBe(true);
});

(hasTool('curl', '--version') ? test : test.skip)(
  'the requests with curl make a video',
  async () => {
    const text = blocks
      .filter((one) => one.language === 'sh' && one.text.includes('curl'))
      .map((one) => one.text.replaceAll(/^export (?:BASE_URL|API_KEY)=.*$/gm, ''))
      .join('\n');
    await writeFile(join(folder, 'requests.sh'), text);
    const program = runProgram('sh', ['requests.sh'], {
      cwd: folder,
      env: { BASE_URL: service.url, API_KEY: service.apiKey },
    });
    expect(await program.code).toBe(0);
    expect(program.out()).toContain('"status":"succeeded"');
    expect(program.out()).toContain('"available"');
  },
);
