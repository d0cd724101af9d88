// Installs the packages of the lock file if they are missing. Install scripts of packages are not
// run, because no package needs them.

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { root, run } from './run.mjs';

// An install takes a minute or two, so the owner of an older lock must have died.
const lockStaleMs = 10 * 60_000;

/**
 * Two installs in one folder would break each other. So a second process waits for the first, and
 * then has nothing to install.
 */
export async function installIfNeeded() {
  const reason = whatIsMissing();
  if (!reason) return;
  await step(`installing packages (${reason}), which takes a minute or two`, () =>
    withLock(lockFile(), lockStaleMs, async () => {
      if (whatIsMissing()) await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
    }),
  );
}

/**
 * The path of the lock file. It is not in the project folder, because an install could remove the
 * file there and git could list it.
 */
function lockFile() {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(tmpdir(), `video-install-${name}`);
}

/**
 * Returns why an install is needed; null if no package is missing. The function compares
 * package-lock.json with npm's list of installed packages.
 */
function whatIsMissing() {
  // If node_modules is a link, it leads to the packages of another project. An install would remove
  // those packages, so nothing is installed.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    return null;
  }
  const wanted = packagesOf('package-lock.json');
  const found = packagesOf('node_modules/.package-lock.json');
  if (!found) return 'first time';
  const different = Object.entries(wanted ?? {}).filter(([path, { version, optional, link }]) => {
    // Most optional packages are for other platforms, and npm does not install them here.
    if (path === '' || link || (optional && !found[path])) return false;
    return found[path]?.version !== version;
  });
  return different.length > 0 ? `${different.length} are missing or old` : null;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch {
    return null;
  }
}
