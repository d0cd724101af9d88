// Test files of one jest worker share the packages, and nothing else (test/support/jest).

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(__dirname, '../..');
const command = join(root, 'node_modules/jest/bin/jest.js');

// What a test file can leave: a package's state, a module's, a variable, a spy, a faked clock, an
// own `fetch`. The package `keeper` is first loaded while the clock is faked.
const leaving = `
  const { appendFileSync } = require('node:fs');
  const { basename, join } = require('node:path');
  const pg = require('pg');
  const own = require('./own');

  test('leaves something of each kind', () => {
    const found = {
      loadedBefore: Object.hasOwn(pg, 'seen'),
      own: own.count,
      variable: process.env.LEFT_BY_A_FILE ?? null,
      hasTrueClock: Date.now() > 1_000,
      hasTrueTimers: setTimeout.clock === undefined,
      hasTrueFetch: String(fetch) !== String(left),
      isOneRealm: pg.types.getTypeParser(3802)('[]') instanceof Array,
    };
    pg.seen = true;
    own.count += 1;
    process.env.LEFT_BY_A_FILE = 'left';
    jest.spyOn(Date, 'now').mockReturnValue(1);
    jest.useFakeTimers();
    globalThis.fetch = left;
    found.packageHasTrueTimers = require('keeper').every((timer) => timer.clock === undefined);
    found.fakesStay = setTimeout.clock !== undefined;
    appendFileSync(join(__dirname, 'found'), JSON.stringify(found) + '\\n');
  });
  function left() {}
`;

test('the second file of a worker finds the packages of the first, and nothing else of it', async () => {
  const above = await mkdtemp(join(tmpdir(), 'video-one-realm-'));
  const folder = join(above, 'tests');
  const keeper = join(folder, 'node_modules/keeper');
  try {
    await mkdir(keeper, { recursive: true });
    await writeFile(
      join(keeper, 'index.js'),
      `module.exports = [setTimeout, Date, require('timers').setTimeout, process.nextTick];`,
    );
    await symlink(join(root, 'node_modules'), join(above, 'node_modules'));
    const config = {
      testEnvironment: join(root, 'test/support/jest/environment.js'),
      runtime: join(root, 'test/support/jest/runtime.js'),
      testMatch: ['<rootDir>/*.test.js'],
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify({ jest: config }));
    await writeFile(join(folder, 'own.js'), 'module.exports = { count: 0 };');
    await writeFile(join(folder, 'first.test.js'), leaving);
    await writeFile(join(folder, 'second.test.js'), leaving);
    await promisify(execFile)(process.execPath, [command, '--runInBand', '--silent'], {
      cwd: folder,
    });
    const lines = (await readFile(join(folder, 'found'), 'utf8')).trim().split('\n');
    const clean = {
      own: 0,
      variable: null,
      hasTrueClock: true,
      hasTrueTimers: true,
      hasTrueFetch: true,
      isOneRealm: true,
      packageHasTrueTimers: true,
      fakesStay: true,
    };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { loadedBefore: false, ...clean },
      { loadedBefore: true, ...clean },
    ]);
  } finally {
    await rm(above, { recursive: true, force: true });
  }
});
