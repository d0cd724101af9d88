// Tests the commit that /version shows.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectCommit } from '../../src/commands/package-info';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clone-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();

test('the reported commit is the checked-out commit of the cloned folder', () => {
  git('init', '--quiet');
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  git(...author, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  const commit = projectCommit(folder);
  expect(commit).toMatch(/^[0-9a-f]{40}$/);
  expect(commit).toBe(git('rev-parse', 'HEAD'));
});

test('the reported commit is "unknown" without a repository, without a commit, and in a damaged repository', () => {
  expect(projectCommit(folder)).toBe('unknown');
  git('init', '--quiet');
  expect(projectCommit(folder)).toBe('unknown');
  rmSync(join(folder, '.git'), { recursive: true });
  writeFileSync(join(folder, '.git'), 'no repository');
  expect(projectCommit(folder)).toBe('unknown');
});

test('the reported commit is "unknown" if git is not installed', () => {
  git('init', '--quiet');
  const { PATH } = process.env;
  process.env.PATH = folder;
  try {
    expect(projectCommit(folder)).toBe('unknown');
  } finally {
    process.env.PATH = PATH;
  }
});
