// `npm run test:containers` says in one sentence why it runs nothing, where neither an engine answers
// nor one can be installed, and `npm run test:cluster` where Go is missing. In CI both fail.

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

/** Runs the script on a machine that has no program but Node. */
function run(args: readonly string[], env = {}, user?: number) {
  return spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: folder, ...env },
    ...(user === undefined ? {} : { uid: user }),
  });
}

/** What it says on a machine that has these programs too. */
function said(args: readonly string[], programs: readonly string[] = [], user?: number) {
  for (const name of programs) symlinkSync('/bin/true', join(folder, name));
  const { status, stdout, stderr } = run(['--containers', ...args], {}, user);
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

test.each(['--containers', '--cluster'])('%s fails in CI if it runs nothing', (name) => {
  const whyNothing = expect.stringMatching(/^Nothing was run: /);
  expect(run([name])).toMatchObject({ status: 0, stdout: whyNothing });
  expect(run([name], { CI: 'true' })).toMatchObject({ status: 1, stdout: whyNothing });
});
