// Installs the packages of the lock file if they are not installed. No package of ours needs an
// install script.

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { root, run } from './run.mjs';

// An install takes a minute or two; the owner of an older lock has died.
const lockStaleMs = 10 * 60_000;

/**
 * Two installs in one folder would break each other. The second waits and then finds nothing to do.
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

/** Not in the project, where an install would remove it or git would show it. */
function lockFile() {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  return join(tmpdir(), `video-install-${name}`);
}

/** npm keeps a list of the installed packages, which is compared with the lock file. */
function whatIsMissing() {
  // A link leads to packages of another folder, and an install would remove those.
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
    return null;
  }
  const wanted = packagesOf('package-lock.json');
  const found = packagesOf('node_modules/.package-lock.json');
  if (!found) return 'first time';
  const different = Object.entries(wanted ?? {}).filter(([path, { version, optional, link }]) => {
    // Optional packages are mostly for other platforms; npm knows which of them belong here.
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
