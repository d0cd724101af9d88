// `node scripts/running.mjs apiUrl` prints one value of the running development stack, for use in
// shell commands. The stack is found by its file in DATA_DIR.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root } from './lib/run.mjs';

const [name = ''] = process.argv.slice(2);
const folder = process.env.DATA_DIR || join(root, '.data');
const file = read(join(folder, 'dev.json'));
if (!file) {
  fail(
    new Error(
      `No \`npm start\` runs in ${folder}. Start it and wait until everything runs, ` +
        'or set DATA_DIR as in its first terminal.',
    ),
  );
} else if (typeof file[name] !== 'string') {
  const names = Object.keys(file).filter((key) => typeof file[key] === 'string');
  fail(new Error(`There is no value "${name}". The values are ${names.join(', ')}.`));
}
process.stdout.write(`${file[name]}\n`);

/**
 * The values of the running stack; null if no stack runs. A killed stack leaves its file, so signal
 * 0 checks whether the process of the stack still exists.
 */
function read(path) {
  try {
    const values = JSON.parse(readFileSync(path, 'utf8'));
    process.kill(values.pids.stack, 0);
    return values;
  } catch {
    return null;
  }
}
