// Runs the table of behaviours for each client package, against the service as processes. The
// Python package is installed with pip into a fresh environment, and checked with mypy.

import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../chaos/world';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { hasTool, pythonPackage, succeed } from '../support/foreign';
import { runProgram } from '../support/program';
import { call, textTask } from '../support/service';
import { behaviours, type Scene, type Subject } from './behaviours';

// Long enough to download the packages on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');
const pythonClient = join(__dirname, '../../clients/python');

let world: World;
let proxy: FaultProxy;
let folder: string;
let pythonPath: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-clients-'));
  world = await startWorld({ apis: 1, workers: 1 });
  proxy = await startFaultProxy(world.apis[0] ?? '');
  if (!python) return;
  const target = join(folder, 'python');
  const quiet = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  // Without an index: only the dependency comes from elsewhere.
  await succeed('python3', [...quiet, '--no-index', '--no-deps', '--target', target, pythonClient]);
  pythonPath = `${target}:${await pythonPackage('httpx', '0.28.1')}`;
});
afterAll(async () => {
  await proxy?.close();
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

function subject(
  command: string,
  args: readonly string[],
  env: () => Record<string, string>,
): Subject {
  const start: Subject['start'] = (name, given, options = {}) => {
    const { url: baseUrl } = proxy;
    const asked = { baseUrl, apiKey: world.apiKey, call: name, args: given, ...options };
    return runProgram(command, [...args, JSON.stringify(asked)], { env: env() });
  };
  return {
    start,
    async run(...asked) {
      const program = start(...asked);
      await program.code;
      try {
        return JSON.parse(program.out());
      } catch {
        throw new Error(`${program.out()}${program.err()}`);
      }
    },
  };
}

const driver = (file: string) => join(__dirname, file);
const inPython = (kind: string) =>
  subject('python3', [driver('driver.py'), kind], () => ({ PYTHONPATH: pythonPath }));
const subjects: readonly (readonly [string, boolean, Subject])[] = [
  ['TypeScript', true, subject(process.execPath, [driver('driver.mjs')], () => ({}))],
  ['Python', python, inPython('sync')],
  ['asynchronous Python', python, inPython('async')],
];

const api = (method: string, path: string, body?: unknown) =>
  call(world.apis[0] ?? '', world.apiKey, method, path, body);

const sceneOf = (client: Subject): Scene => ({
  proxy,
  client,
  tasksOf: async (mark) => (await api('GET', `/v1/tasks?label.mark=${mark}`)).json.data,
  aVideo,
  async killApi() {
    const part = world.part('api-1');
    part.kill('SIGKILL');
    await part.exited;
  },
  startApi: () => world.part('api-1').start(),
});

let video: ReturnType<Scene['aVideo']> | undefined;
function aVideo() {
  video ??= (async () => {
    const { json } = await api('POST', '/v1/videos/generations', textTask({ render: 'full' }));
    for (;;) {
      const read = await api('GET', `/v1/videos/generations/${json.id}`);
      if (read.json.status === 'succeeded') {
        const { pathname } = new URL(read.json.video_url);
        const response = await fetch(`${world.apis[0]}${pathname}`);
        const bytes = Buffer.from(await response.arrayBuffer());
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return { url: `${proxy.url}${pathname}`, sha256, bytes: bytes.length };
      }
      await new Promise((next) => setTimeout(next, 500));
    }
  })();
  return video;
}

for (const [name, isThere, client] of subjects) {
  (isThere ? describe : describe.skip)(`the client for ${name}`, () => {
    beforeEach(() => proxy.reset());
    test.each(behaviours)('$name', ({ check }) => check(sceneOf(client)));
  });
}

const stops = behaviours.filter(({ name }) => name.startsWith('a stop'));

(python ? describe : describe.skip).each([
  ['two cancellations', 'twice'],
  ['a time limit of asyncio', 'timeout'],
  ['a scope of anyio', 'anyio'],
])('the client for asynchronous Python, stopped by %s', (_, kind) => {
  beforeEach(() => proxy.reset());
  test.each(stops)('$name', ({ check }) => check(sceneOf(inPython(kind))));
});

(python ? test : test.skip)(
  'an upload of the Python package may take longer than the time limit, because its bytes take time',
  async () => {
    const program = runProgram('python3', [driver('slow_upload.py')], {
      env: { PYTHONPATH: pythonPath },
    });
    expect([await program.code, program.err()]).toEqual([0, '']);
  },
);

(python ? test : test.skip)(
  'a client of the Python package takes its address and key from the environment, and says what is missing',
  async () => {
    const program = runProgram('python3', [driver('environment.py')], {
      env: { PYTHONPATH: pythonPath },
    });
    expect([await program.code, program.err()]).toEqual([0, '']);
  },
);

(python ? test : test.skip)(
  'an error of the Python package keeps its fields when it is copied or passed to another process',
  async () => {
    const program = runProgram('python3', [driver('copied_error.py')], {
      env: { PYTHONPATH: pythonPath },
    });
    expect([await program.code, program.err()]).toEqual([0, '']);
  },
);

(python ? test : test.skip)(
  'the Python package passes `mypy --strict`, and finds a wrong field',
  async () => {
    const mypy = await pythonPackage('mypy', '2.4.1');
    const environment = join(folder, 'environment');
    await succeed('python3', ['-m', 'venv', '--without-pip', environment]);
    const [version = ''] = await readdir(join(environment, 'lib'));
    const installed = join(environment, 'lib', version, 'site-packages');
    await writeFile(join(installed, 'packages.pth'), pythonPath.replace(':', '\n'));
    const interpreter = ['--python-executable', join(environment, 'bin', 'python')];
    const check = async (code: string) => {
      const file = join(folder, 'use.py');
      await writeFile(file, code);
      const args = ['-m', 'mypy', '--strict', '--python-version', '3.10', ...interpreter, file];
      const program = runProgram('python3', args, {
        cwd: folder,
        env: { PYTHONPATH: mypy },
      });
      return { code: await program.code, out: program.out() };
    };
    const use = (field: string) => `
from video_generation_client import VideoClient
from video_generation_client.api_types import Task

def main(client: VideoClient) -> str:
    task: Task = client.create_and_wait({"model": "m", "prompt": "p"})
    return task["${field}"]
`;
    expect(await check(use('status'))).toMatchObject({ code: 0 });
    expect((await check(use('colour'))).out).toContain('typeddict-item');
    const own = ['-m', 'mypy', '--strict', '--python-version', '3.10', ...interpreter];
    const program = runProgram('python3', [...own, '-p', 'video_generation_client'], {
      cwd: pythonClient,
      env: { PYTHONPATH: mypy },
    });
    expect([await program.code, program.out()]).toEqual([0, expect.stringContaining('Success')]);
  },
);
