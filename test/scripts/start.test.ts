// Tests `npm start -- --help` in a new clone. The command must print the help without the
// installation of packages.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { partNames } from '../../src/dev-stack/parts';

const project = resolve(__dirname, '../..');
let clone: string;
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'clone-'));
  for (const name of ['scripts', 'src', 'package.json', 'package-lock.json']) {
    cpSync(join(project, name), join(clone, name), { recursive: true });
  }
});
afterAll(() => rmSync(clone, { recursive: true }));

test.each([[['--help']], [['--without', 'api', '--help']]])(
  '`npm start` with the arguments %j prints the options and all parts, and installs nothing',
  async (args) => {
    const before = readdirSync(clone);
    const start = join(clone, 'scripts', 'start.mjs');
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [start, ...args]);
    expect(stdout).toMatch(/^Usage: npm start -- \[options\]\n/);
    expect(stdout).toContain(`the parts are ${partNames.join(', ')}\n`);
    expect(stderr).toBe('');
    expect(readdirSync(clone)).toEqual(before);
  },
);
