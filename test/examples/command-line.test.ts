// Runs the command line of the TypeScript package against the service, as a user runs it.

import { spawn } from 'node:child_process';
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { type Service, startService, type TaskReply, textTask } from '../support/service';
import { until } from '../support/until';

let service: Service;
let proxy: FaultProxy;
let folder: string;
beforeAll(async () => {
  service = await startService({ script: { render: 'none' } });
  proxy = await startFaultProxy(service.url);
  folder = await mkdtemp(join(tmpdir(), 'video-command-'));
  const picture = { width: 640, height: 360, channels: 3, background: '#369' } as const;
  await sharp({ create: picture }).png().toFile(join(folder, 'a.png'));
});
afterAll(async () => {
  await proxy?.close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const main = join(__dirname, '../../clients/typescript/dist/cli/main.js');

const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  program(process.execPath, [main, ...args], env);
const shell = (line: string) => program('sh', ['-c', line]).ended;

function program(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, BASE_URL: service.url, API_KEY: service.apiKey, ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += chunk));
  child.stderr.on('data', (chunk) => (said.err += chunk));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...said }));
  });
  return { child, said, ended };
}

const run = (...args: string[]) => start(args).ended;
const tasks = async () => (await service.call('GET', '/v1/tasks?limit=100')).json.data;
const small = ['--resolution', '480p', '--ratio', '16:9'];
const aFilm = textTask({ render: 'full' }, { resolution: '480p', duration: 4 });

test('`create --image --out` uploads the picture, prints each step on a line, and saves the video', async () => {
  const { code, out, err } = await run(
    ...['create', 'a boat', '--image', 'a.png', '--wait', '--out', 'film.mp4', ...small],
  );
  expect([code, out]).toEqual([0, 'film.mp4\n']);
  const [first = '', ...steps] = err.trim().split('\n');
  const id = first.replace(': created', '');
  expect(steps.at(-1)).toBe(`${id}: succeeded`);
  expect(err).not.toContain('\r');
  const { video_url } = (await service.call('GET', `/v1/videos/generations/${id}`)).json;
  const wanted = Buffer.from(await (await fetch(video_url)).arrayBuffer());
  expect(await readFile(join(folder, 'film.mp4'))).toEqual(wanted);
  expect(await readdir(folder)).not.toContain('film.mp4.part');
});

test('`create` prints the id, `get` the task and `list` a line for each task', async () => {
  const { code, out } = await run(
    'create',
    'a boat',
    '--label',
    'order=4711',
    '--seed',
    '7',
    ...small,
  );
  expect(code).toBe(0);
  const id = out.trim();
  await service.finished(id);
  const got = await run('get', id);
  expect(got.code).toBe(0);
  expect(JSON.parse(got.out)).toMatchObject({ id, seed: 7, labels: { order: '4711' } });
  const listed = await run('list', '--label', 'order=4711');
  expect(listed.out).toMatch(new RegExp(`^${id}  \\S+Z  succeeded  studio-2.0\n$`));
});

test('`models`, `account`, `statement`, `files` and `webhooks` print what the service has', async () => {
  expect((await run('create', 'a boat', '--image', 'a.png', ...small)).code).toBe(0);
  const { json: hook } = await service.call('POST', '/v1/webhooks', {
    url: 'https://example.com/',
  });
  const line = async (...args: string[]) => {
    const { code, out, err } = await run(...args);
    expect([code, err]).toEqual([0, '']);
    return out;
  };
  expect(await line('models')).toMatch(/^studio-2\.0 {2}\d+\.\d{6} CNY a second of 720p$/m);
  expect(JSON.parse(await line('models', 'studio-2.0'))).toMatchObject({ id: 'studio-2.0' });
  expect(JSON.parse(await line('account'))).toMatchObject({ currency: 'CNY' });
  expect((await line('statement', '--limit', '2')).trim().split('\n')).toHaveLength(2);
  expect(await line('files', '--limit', '1')).toMatch(/^file_\S+ .* a\.png\n$/);
  expect(await line('webhooks')).toContain(`${hook.id}  `);
  expect(JSON.parse(await line('webhooks', hook.id))).toMatchObject({ id: hook.id });
  await service.call('DELETE', `/v1/webhooks/${hook.id}`);
});

test('`quote` prints the price and creates nothing', async () => {
  const before = (await tasks()).length;
  const { code, out } = await run('quote', 'a boat', '--duration', '8');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ duration: 8 });
  expect(await tasks()).toHaveLength(before);
});

test('after Ctrl-C the task goes on, and the printed commands resume and cancel it', async () => {
  const { json } = await service.create({
    ...{ model: 'studio-2.0', prompt: 'x', metadata: { studio: { render: 'none', run_s: 60 } } },
  });
  const waiting = start(['get', json.id, '--wait']);
  await until('it shows the task', () => waiting.said.err.includes(json.id));
  waiting.child.kill('SIGINT');
  const { code, err } = await waiting.ended;
  expect(code).toBe(130);
  expect(err).toContain(`videos get ${json.id} --wait\n`);
  expect(err).toContain(`videos cancel ${json.id}\n`);
  expect((await run('cancel', json.id)).code).toBe(0);
  const failed = await run('get', json.id, '--wait');
  expect([failed.code, failed.out]).toEqual([1, '']);
  expect(failed.err).toContain('task_error');
});

test('`create --key` with the key of an earlier create gives the same task, also with a file', async () => {
  const key = `again-${Date.now()}`;
  const args = ['create', 'a boat', '--key', key, '--image', 'a.png', ...small];
  expect((await run(...args)).out).toBe((await run(...args)).out);
});

test.each([
  ['an unknown command', ['paint', 'x'], 2, 'paint'],
  ['an unknown option', ['list', '--colour', 'red'], 2, 'colour'],
  ['a missing prompt', ['create'], 2, 'create'],
  ['a value that the service refuses', ['create', 'x', '--ratio', '5:4'], 1, 'invalid_value'],
  ['an unknown task', ['get', 'task_01k9m3c5x8v2q4w6e8r0t2y4na'], 1, 'task_not_found'],
])('%s is reported on standard error', async (_, args, code, word) => {
  const ended = await run(...args);
  expect([ended.code, ended.out]).toEqual([code, '']);
  expect(ended.err).toContain(word);
});

let film: Promise<TaskReply> | undefined;

test.each(['-', '/dev/stdout'])(
  '`--out %s` writes the video and nothing else, to a pipe, to a file or behind a text',
  async (out) => {
    // A film is larger than what a pipe holds.
    film ??= service.create(aFilm).then(({ json }) => service.finished(json.id, 120_000));
    const { id, video_url } = await film;
    const wanted = Buffer.from(await (await fetch(video_url)).arrayBuffer());
    const get = `"${process.execPath}" "${main}" get ${id} --out ${out}`;
    await writeFile(join(folder, 'added'), 'before');
    for (const line of [`${get} | cat > piped`, `${get} > file`, `${get} >> added`]) {
      expect((await shell(line)).code).toBe(0);
    }
    expect(await readFile(join(folder, 'piped'))).toEqual(wanted);
    expect(await readFile(join(folder, 'file'))).toEqual(wanted);
    expect(await readFile(join(folder, 'added'))).toEqual(
      Buffer.concat([Buffer.from('before'), wanted]),
    );
    // The output of this process is a socket, which cannot be opened by its name.
    expect((await run('get', id, '--out', out)).code).toBe(0);
    expect((await lstat('/dev/stdout')).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).not.toContain('-');
  },
);

test('`--out` saves the video although the reader of its progress has ended', async () => {
  const create = `"${process.execPath}" "${main}" create "a boat" ${small.join(' ')} --out lines.mp4`;
  await shell(`(${create}; echo $? > code) 2>&1 > /dev/null | head -n 1`);
  expect(await readFile(join(folder, 'code'), 'utf8')).toBe('0\n');
  expect((await readFile(join(folder, 'lines.mp4'))).length).toBeGreaterThan(1_000);
});

test('only a create that may have made a task says how to resume', async () => {
  const refused = await run('create', 'x', '--ratio', '5:4');
  expect(refused.err).not.toContain('--key');
  proxy.reset(/^POST/, Array(9).fill({ kind: 'lose' }));
  const cut = start(['create', 'x', ...small], { BASE_URL: proxy.url });
  await until('the answer was lost', () => cut.said.err.includes('Trying again'));
  cut.child.kill('SIGINT');
  const { code, err } = await cut.ended;
  expect([code, err]).toEqual([130, expect.stringContaining('repeat the command with --key')]);
});

test('a repeated call is a line on standard error', async () => {
  proxy.reset(/^GET/, [{ kind: 'refuse' }]);
  const { code, err } = await start(['list'], { BASE_URL: proxy.url }).ended;
  expect(code).toBe(0);
  expect(err).toMatch(/^The service did not answer: fetch failed: .+ Trying again in 1 s\.\n$/);
});

test('without API_KEY the command says what is missing', async () => {
  const ended = await start(['list'], { API_KEY: '' }).ended;
  expect([ended.code, ended.err.split('\n')[0]]).toEqual([2, expect.stringContaining('API_KEY')]);
});
