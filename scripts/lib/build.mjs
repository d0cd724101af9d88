// Source → dist: compiled TypeScript and the workflows in one bundle, so that a worker need not
// bundle them as it starts. Nothing is done when dist is younger than its sources; it is made
// beside its place and moved there when whole.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { root, run, tool } from './run.mjs';

const dist = join(root, 'dist');
const stampFile = join(dist, '.built-from');
const bundler = join(root, 'scripts', 'lib', 'bundle.mjs');
const lockFile = join(root, 'node_modules', '.build-lock');
// A build takes seconds; a lock this old has lost its owner.
const lockStaleMs = 2 * 60_000;

export async function buildIfStale() {
  if (isFresh()) return;
  await withLock(lockFile, lockStaleMs, async () => {
    if (isFresh()) return;
    await step('building', async () => {
      await build();
      return 'built';
    });
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
      run(tool('tsc'), ['-p', 'tsconfig.build.json', '--outDir', draft]),
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

// What else decides what comes of the sources.
const besides = [
  'scripts/lib/bundle.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

/** Changes when any source does, by name, size or time. */
function stampOfSources() {
  const hash = createHash('sha256');
  const take = (path) => {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  };
  for (const folder of ['src', 'workflows', 'activities', 'bench']) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (name.endsWith('.ts')) take(join(root, folder, name));
    }
  }
  for (const file of besides) take(join(root, file));
  return hash.digest('hex');
}
