// Runs the upload commands of docs/api.md and the script examples/upload.mjs against the
// service.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { runProgram } from '../support/program';
import { type Service, startService } from '../support/service';

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService({ script: { render: 'none' } });
  folder = await mkdtemp(join(tmpdir(), 'video-upload-'));
  const picture = { width: 640, height: 360, channels: 3, background: '#369' } as const;
  await sharp({ create: picture }).jpeg().toFile(join(folder, 'boat.jpg'));
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(command: string, args: readonly string[], env = {}) {
  const program = runProgram(command, args, {
    cwd: folder,
    env: { BASE_URL: service.url, API_KEY: service.apiKey, ...env },
  });
  return { code: await program.code, out: program.out(), err: program.err() };
}

async function uploads() {
  const { json } = await service.call('GET', '/v1/files');
  return json.data;
}

const example = join(__dirname, '../../examples/upload.mjs');
const page = readFileSync(join(__dirname, '../../docs/api.md'), 'utf8');
const [, commands = ''] = /```sh\n(FILE_ID=.*?)```/s.exec(page) ?? [];

test('the commands in docs/api.md upload a file and create a task with the file', async () => {
  const { code, out } = await run('sh', ['-c', commands]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ object: 'video.generation.task' });
  expect(await uploads()).toMatchObject([{ kind: 'image', name: 'boat.jpg' }]);
});

test('examples/upload.mjs uploads a file and creates a task with the file', async () => {
  const { code, out, err } = await run(process.execPath, [example, 'boat.jpg']);
  expect([code, err]).toEqual([0, expect.stringMatching(/^file_\w{26}: image, \d+ bytes\n$/)]);
  const { json } = await service.call('GET', `/v1/videos/generations/${out.trim()}`);
  expect(json).toMatchObject({ object: 'video.generation.task' });
  const [newest] = await uploads();
  expect(err).toContain(newest.id);
});

test('examples/upload.mjs reports why a task was refused', async () => {
  const { code, out, err } = await run(process.execPath, [example, 'boat.jpg'], { MODEL: 'none' });
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('model_not_found');
});
