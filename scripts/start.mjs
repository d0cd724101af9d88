// `npm start`: installs missing packages, builds outdated files, and runs the development stack in
// the same process. So a signal reaches the code that can stop everything. `npm start -- --help`
// needs no packages.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { becomes } from './lib/become.mjs';
import { root } from './lib/run.mjs';

const args = process.argv.slice(2);
if (args.includes('--help')) {
  const lines = JSON.parse(readFileSync(join(root, 'src', 'dev-stack', 'usage.json'), 'utf8'));
  process.stdout.write(`${lines.join('\n')}\n`);
} else {
  // Loading the code takes a second, or several seconds on a busy machine. So a line is printed
  // first.
  process.stdout.write(`Starting the development stack on Node ${process.versions.node}.\n`);
  await becomes('dev', args);
}
