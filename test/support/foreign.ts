// Libraries and tools for the tests of clients in other languages. The installer of the language
// installs each library at a fixed version. The cache folder of the servers' programs keeps it.

import { spawnSync } from 'node:child_process';
import { cached } from '../../src/embedded/cache';
import { runProgram } from './program';

/**
 * True if the command works. Otherwise prints the name of the test file, whose tests are left out.
 */
export function hasTool(command: string, ...args: string[]): boolean {
  const { error, status } = spawnSync(command, args, { stdio: 'ignore' });
  if (!error && status === 0) return true;
  process.stdout.write(`Left out, because there is no ${command}: its tests in ${here()}.\n`);
  return false;
}

/** A folder for PYTHONPATH with this version of a package and its dependencies. */
export async function pythonPackage(
  name: string,
  version: string,
  module = name.replaceAll('-', '_'),
): Promise<string> {
  return cached({
    name: `python-${name}-${version}`,
    needs: [`${module}/__init__.py`],
    fill: (folder) =>
      succeed('python3', [
        ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'],
        ...['--target', folder, `${name}==${version}`],
      ]),
  });
}

/** A folder whose node_modules has this version of each package. */
export async function npmPackages(...packages: readonly (readonly [string, string])[]) {
  const specs = packages.map(([name, version]) => `${name}@${version}`);
  return cached({
    name: `npm-${specs.join('-').replaceAll(/[@/]/g, '_')}`,
    needs: packages.map(([name]) => `node_modules/${name}/package.json`),
    fill: (folder) =>
      succeed('npm', [
        ...['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts'],
        ...['--prefix', folder, ...specs],
      ]),
  });
}

/**
 * Runs an installer or a compiler, and throws if it fails. The program gets the whole environment,
 * which names its mirrors and caches.
 */
export async function succeed(
  command: string,
  args: readonly string[],
  cwd?: string,
): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const program = runProgram(command, args, { env, ...(cwd ? { cwd } : {}) });
  if ((await program.code) !== 0) {
    throw new Error(`${command} ${args.join(' ')}: ${program.err() || program.out()}`);
  }
}

function here(): string {
  return expect.getState().testPath?.split('/').at(-1) ?? 'this file';
}
