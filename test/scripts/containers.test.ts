// `npm run test:containers` says in one sentence why it runs nothing, where neither an engine answers
// nor one can be installed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const project = resolve(__dirname, '../..');
const isRoot = process.getuid?.() === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-programs-'));
  symlinkSync(process.execPath, join(folder, 'node'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the script on a machine that has no program but Node and these. */
function said(args: readonly string[], programs: readonly string[] = [], user?: number) {
  for (const name of programs) symlinkSync('/bin/true', join(folder, name));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/test.mjs', '--containers', ...args],
    {
      cwd: project,
      encoding: 'utf8',
      env: { PATH: folder },
      ...(user === undefined ? {} : { uid: user }),
    },
  );
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(stdout).toMatch(/^Nothing was run: /);
  return stdout;
}

test('without an engine, it names the engine that it needs and the option that installs one', () => {
  expect(said([])).toMatch(/engine.*--local-engine/);
});

test('an engine of its own needs root', () => {
  expect(said(['--local-engine'], ['apt-get'], isRoot ? 65_534 : undefined)).toContain('root');
});

if (isRoot) {
  test('an engine of its own needs the packages of Debian', () => {
    expect(said(['--local-engine'])).toContain('apt-get');
  });
}
