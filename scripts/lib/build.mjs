// Builds dist from the sources. TypeScript is compiled, and the workflows are bundled, so that a
// worker starts faster. If no source has changed, nothing is done. A new dist is built in another
// folder, and replaces the previous dist after the build.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { root, run, tool } from './run.mjs';

const dist = join(root, 'dist');
export const builtBundle = join(dist, 'workflow-bundle.js');
const stampFile = join(dist, '.built-from');
const bundler = join(root, 'scripts', 'lib', 'bundle.mjs');
// The folder with the files that the built program reads at run time.
const assets = ['studio', 'assets'];
const lockFile = join(root, 'node_modules', '.build-lock');
// A build takes seconds, so the owner of an older lock must have died.
const lockStaleMs = 2 * 60_000;

export async function buildIfStale() {
  if (isFresh()) return;
  await withLock(lockFile, lockStaleMs, async () => {
    if (isFresh()) return;
    await step('building', build);
  });
}

function isFresh() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stampOfSources();
}

async function build() {
  const stamp = stampOfSources();
  const draft = join(root, `dist.draft-${process.pid}`);
  try {
    await mkdir(draft, { recursive: true });
    await Promise.all([
      run(tool('tsc'), ['-p', 'tsconfig.build.json', '--outDir', draft, '--noCheck']),
      ...(hasClient ? [run(tool('tsc'), ['-p', 'clients/typescript'])] : []),
      cp(join(root, ...assets), join(draft, ...assets), { recursive: true }),
      run(process.execPath, [bundler, join(draft, 'workflow-bundle.js')]),
    ]);
    await writeFile(join(draft, '.built-from'), stamp);
    const old = join(root, `dist.old-${process.pid}`);
    if (existsSync(dist)) await rename(dist, old);
    await rename(draft, dist);
    await rm(old, { recursive: true, force: true });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const sourceFolders = [
  'src',
  'studio',
  'workflows',
  'activities',
  'bench',
  'clients/typescript/src',
];
// The image of the service is built without the clients.
const hasClient = existsSync(join(root, 'clients', 'typescript'));

// Files outside the source folders. A change of one of these files also needs a new build.
const besides = [
  'scripts/lib/bundle.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  ...(hasClient ? ['clients/typescript/tsconfig.json'] : []),
  'package-lock.json',
];

/** A hash that changes if the name, size or modification time of a source file changes. */
function stampOfSources() {
  const hash = createHash('sha256');
  const take = (path) => {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  };
  for (const folder of sourceFolders) {
    if (!existsSync(join(root, folder))) continue;
    const names = readdirSync(join(root, folder), { encoding: 'utf8', recursive: true });
    for (const name of names.sort()) {
      const path = join(root, folder, name);
      if (/\.(?:ts|json)$/.test(name) || path.startsWith(join(root, ...assets, sep))) take(path);
    }
  }
  for (const file of besides) take(join(root, file));
  return hash.digest('hex');
}
