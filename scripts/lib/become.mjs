// Installs packages and builds dist if needed. Then runs the program with the given name in the
// Node process of the script.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildIfStale } from './build.mjs';
import { installIfNeeded } from './install.mjs';
import { fail, root } from './run.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);

export async function becomes(name, args) {
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(new Error(`Node ${process.versions.node} is too old: 20.19 or later is needed.`));
  }
  if (name === 'dev' && major < 22) {
    process.stdout.write(`Node ${major} gets no fixes any more; Node 22 and 24 are supported.\n`);
  }
  try {
    await installIfNeeded();
    await buildIfStale();
  } catch (error) {
    fail(error);
  }
  const main = join(root, 'dist', name === 'bench' ? 'bench/main.js' : 'src/main.js');
  process.argv = [process.argv[0], main, ...(name === 'bench' ? [] : [name]), ...args];
  createRequire(import.meta.url)(main);
}
