// Runs the provider of the TypeScript package inside the Vercel AI SDK, with start and status in
// two processes.

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../src/embedded/ports';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { npmPackages } from '../support/foreign';
import { type Program, runProgram } from '../support/program';
import { type Service, startService } from '../support/service';
import { until } from '../support/until';

// Long enough to download the packages on a new machine.
jest.setTimeout(300_000);

let packages: string;
let service: Service;
let proxy: FaultProxy;
let port: number;
beforeAll(async () => {
  packages = await npmPackages(['ai', '7.0.173'], ['@ai-sdk/provider', '4.0.38']);
  [port = 0] = await freePorts(1);
  service = await startService({ allowHosts: [`127.0.0.1:${port}`] });
  proxy = await startFaultProxy(service.url);
});
beforeEach(() => proxy.reset());
afterAll(async () => {
  await proxy?.close();
  await service?.close();
});

const posts = /^POST \/v1\/videos\/generations/;
const root = join(__dirname, '../..');

function start(what: string, args: object): Program {
  const settings = { packages, baseUrl: proxy.url, apiKey: service.apiKey, args };
  return runProgram(process.execPath, [
    join(__dirname, 'ai-sdk-process.mjs'),
    what,
    JSON.stringify(settings),
  ]);
}

async function run(what: string, args: object) {
  const program = start(what, args);
  if ((await program.code) !== 0) throw new Error(program.err());
  return JSON.parse(program.out());
}

const video = (studio: object, over: object = {}) => ({
  ...{ prompt: 'a lighthouse at dusk', aspectRatio: '16:9', duration: 5, seed: 7, maxRetries: 0 },
  providerOptions: { videoGeneration: { metadata: { studio: { render: 'none', ...studio } } } },
  ...over,
});
const taskCount = async () => Number((await service.db('tasks').count())[0]?.count);
const createsSeen = () => proxy.seen.filter(({ method, path }) => posts.test(`${method} ${path}`));

test('a video that one process starts is finished for another process, and the key of the SDK makes it one task', async () => {
  const before = await taskCount();
  proxy.reset(posts, [{ kind: 'lose' }]);
  const { operation, warnings } = await run('start', video({}));
  expect(warnings).toEqual([]);
  const keys = new Set(createsSeen().map(({ headers }) => headers['idempotency-key']));
  expect([...keys]).toEqual([expect.stringMatching(/^aisdk_vid_/)]);
  expect(createsSeen()).toHaveLength(2);
  const task = await service.finished(operation.id);
  expect(task.seed).toBe(7);
  const status = await run('status', { operation });
  expect(status).toMatchObject({
    status: 'completed',
    videos: [{ type: 'url', url: task.video_url, mediaType: 'video/mp4' }],
  });
  expect(await taskCount()).toBe(before + 1);
});

test('a start that was killed, and is repeated with its key and its picture, makes one task', async () => {
  const before = await taskCount();
  const headers = { 'idempotency-key': `order-${Date.now()}` };
  const picture =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const args = video({ run_s: 1 }, { headers, inputReferences: [picture] });
  // The answer comes so slowly that the process is killed before its end.
  proxy.reset(posts, [{ kind: 'slow', pieces: 10, pauseMs: 2_000 }]);
  const killed = start('start', args);
  await until('the task is stored', async () => (await taskCount()) === before + 1);
  await killed.stop();
  const { operation } = await run('start', args);
  expect(await service.finished(operation.id)).toMatchObject({ status: 'succeeded' });
  expect(await taskCount()).toBe(before + 1);
});

test('`generateVideo` with a webhook waits for the callback and reads the status once', async () => {
  const options = video({ render: 'full' });
  const { bytes, mediaType } = await run('generate', { port, options });
  expect(bytes).toBeGreaterThan(1_000);
  expect(mediaType).toBe('video/mp4');
  expect(proxy.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
});

test('a failed task is an error of the operation', async () => {
  const { operation } = await run('start', video({ run_s: 60 }));
  await service.call('DELETE', `/v1/videos/generations/${operation.id}`);
  await service.finished(operation.id);
  expect(await run('status', { operation })).toMatchObject({ status: 'error' });
});

test('the model has the type `VideoModelV4` of the SDK', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-ai-types-'));
  await symlink(join(packages, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'use.ts'),
    `import type { Experimental_VideoModelV4 as VideoModelV4 } from '@ai-sdk/provider';
     import { createVideoProvider } from '${join(root, 'clients/typescript/dist/ai-sdk.js')}';
     const provider = createVideoProvider({ baseUrl: 'http://localhost', apiKey: 'k' });
     export const model: VideoModelV4 = provider.video('studio-2.0');`,
  );
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--types', '', 'use.ts'],
    { cwd: folder, encoding: 'utf8' },
  );
  expect(stdout).toBe('');
  await rm(folder, { recursive: true, force: true });
});
