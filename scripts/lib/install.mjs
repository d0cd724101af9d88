// Installs the packages of the lock file when they are not there already. Nothing we use needs an install script.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { step } from './progress.mjs';
import { root, run } from './run.mjs';

export async function installIfNeeded() {
  const reason = whatIsMissing();
  if (!reason) return;
  await step(`installing packages: ${reason}`, async () => {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
    return 'packages installed (npm ci --ignore-scripts)';
  });
}

/** npm leaves a copy of what it installed; it is compared with what the lock file asks for. */
function whatIsMissing() {
  const wanted = packagesOf('package-lock.json');
  const found = packagesOf('node_modules/.package-lock.json');
  if (!found) return 'there are none yet';
  const different = Object.entries(wanted ?? {}).filter(([path, { version, optional, link }]) => {
    // Optional ones are for other platforms, mostly; npm knows which of them belong here.
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
