// Tests `npm run release` in a copy of the files that say a version. test/deploy/release builds.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const project = resolve(__dirname, '../..');
const files = [
  'package.json',
  'package-lock.json',
  'Dockerfile',
  'CHANGELOG.md',
  'deploy/helm/Chart.yaml',
  'clients/typescript/package.json',
  'clients/python/pyproject.toml',
];
const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));

let copy: string;
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'video-release-'));
  for (const name of ['scripts', ...files])
    cpSync(join(project, name), join(copy, name), { recursive: true });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all');
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

function git(...args: readonly string[]): string {
  const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  const { status, stdout, stderr } = spawnSync('git', [...who, ...args], {
    cwd: copy,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const release = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: copy, encoding: 'utf8' });
const read = (name: string) => readFileSync(join(copy, name), 'utf8');

/** A section of the changelog above the present ones. */
function tellOf(heading: string, lines = '- A line.'): void {
  const text = read('CHANGELOG.md').replace(/^(?=## )/m, `## ${heading}\n\n${lines}\n\n`);
  writeFileSync(join(copy, 'CHANGELOG.md'), text);
  git('commit', '--quiet', '--all', '--message', 'tell');
}

test('a release with a version that nothing says names every place, and what each says', () => {
  const { status, stderr } = release('9.8.7', '--dry-run');
  expect(status).toBe(1);
  const lines = [...stderr.matchAll(/^- (\S+) says (\S+)$/gm)];
  const named = new Set(lines.map(([, file]) => file));
  expect(new Set([...named, 'CHANGELOG.md'])).toEqual(new Set(files));
  expect(new Set(lines.map(([, , said]) => said))).toEqual(new Set([version]));
  expect(stderr).toContain('CHANGELOG.md has no section "## 9.8.7 - DAY"');
});

test('`--write` changes the version everywhere, and nothing else', () => {
  tellOf('9.8.0 - not released');
  expect(release('9.8.7', '--write').status).toBe(0);
  const changed = git('diff', '--unified=0').match(/^[+-](?![+-]).*/gm) ?? [];
  expect(changed).toHaveLength(18);
  const added = changed.filter((line) => line.startsWith('+'));
  for (const line of added) expect(line).toContain('9.8.7');
  expect(read('CHANGELOG.md')).toMatch(/^## 9\.8\.7 - \d{4}-\d{2}-\d{2}$/m);
});

test('`--write` leaves the section of another version that is released', () => {
  tellOf('9.8.0 - 2026-01-02');
  const { status, stderr } = release('9.8.7', '--write');
  expect([status, git('diff')]).toEqual([1, '']);
  expect(stderr).toContain('CHANGELOG.md begins with 9.8.0, which is released');
  expect(release('9.8.0', '--write').status).toBe(0);
});

test('a commit whose folder has changes, or whose changelog has no day, is not tagged', () => {
  tellOf(`${version} - not released`);
  writeFileSync(join(copy, 'new.txt'), 'new');
  const { status, stderr } = release(version);
  expect([status, git('tag')]).toEqual([1, '']);
  expect(stderr).toContain('commit what is changed');
  expect(stderr).toContain('write the day into CHANGELOG.md');
});

test('a version is not tagged while a newer one has a section, and once it has a tag nothing else is asked', () => {
  tellOf(`${version} - 2026-01-02`);
  tellOf('9.8.0 - not released');
  const later = `release 9.8.0, of which CHANGELOG.md tells before ${version}`;
  expect(release(version).stderr).toContain(later);
  git('tag', `v${version}`);
  expect(release(version).stderr).toBe(
    `- choose another version, because the tag v${version} exists\n`,
  );
});

test('what a tag publishes is its own commit, ready, with the images for both platforms', () => {
  tellOf(`${version} - not released`);
  const env = { ...process.env, PATH: withoutDocker() };
  const publish = () =>
    spawnSync(process.execPath, ['scripts/release.mjs', version, '--publish'], {
      ...{ cwd: copy, encoding: 'utf8', env },
    });
  const { status, stderr } = publish();
  expect([status, stderr.split('\n')]).toEqual([
    1,
    [
      `- put the tag v${version} on this commit`,
      `- write the day into CHANGELOG.md: npm run release -- ${version} --write`,
      expect.stringContaining('- freeze what is released'),
      '- let an engine build the images for linux/amd64 and linux/arm64: no container engine with buildx answers',
      '',
    ],
  ]);
  git('tag', '--annotate', `v${version}`, '--message', 'the release');
  expect(publish().stderr).not.toContain('put the tag');
  tellOf('9.8.0 - 2026-01-02');
  expect(publish().stderr).toContain(`- put the tag v${version} on this commit\n`);
  expect(
    inCopy(`console.log(JSON.stringify([
    artifacts.imagesLackedBy({ platforms: ['linux/amd64'] }),
    artifacts.imagesLackedBy({ platforms: ['linux/arm64', 'linux/amd64'] })]))`),
  ).toBe('[["let an engine build the images for linux/arm64"],[]]');
});

test('`--publish` builds the commit of the tag, and makes no other tag', () => {
  tellOf(`${version} - 2026-01-02`);
  // The tools leave nothing, or what a release needs of them.
  const bin = join(copy, '.git/bin');
  mkdirSync(bin);
  const tool = (path: string, script: string) =>
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  tool(join(bin, 'npm'), 'for last; do :; done; touch "$4/client.tgz"; ls "$last" > /dev/null');
  tool(join(bin, 'python3'), 'touch "$4/client.whl"');
  tool(
    join(bin, 'docker'),
    `case "$*" in 'buildx inspect'*)
      printf 'Driver: docker-container\\nPlatforms: linux/amd64, linux/arm64\\n' ;;
    *) for arg; do case $arg in type=oci,dest=*) touch "\${arg#type=oci,dest=}" ;; esac; done ;; esac`,
  );
  mkdirSync(join(copy, 'node_modules/.bin'), { recursive: true });
  tool(
    join(copy, 'node_modules/.bin/tsc'),
    '[ -z "$4" ] || { mkdir -p "$4" && cp -r .git/compiled/. "$4"; }',
  );
  build('x', 'one');
  cpSync(join(copy, 'dist'), join(copy, '.git/compiled'), { recursive: true });
  writeFileSync(
    join(copy, 'scripts/lib/bundle.mjs'),
    `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], 'one');`,
  );
  writeFileSync(join(copy, 'scripts/sbom.mjs'), `process.stdout.write('{}');`);
  writeFileSync(join(copy, '.gitignore'), 'node_modules\ndist\n.release\n');
  for (const name of ['studio/assets', 'clients/typescript', 'clients/typescript/src', 'src'])
    mkdirSync(join(copy, name), { recursive: true });
  for (const name of [
    ...['tsconfig.json', 'tsconfig.build.json', 'clients/typescript/tsconfig.json'],
    ...['LICENSE', 'clients/typescript/README.md'],
  ])
    cpSync(join(project, name), join(copy, name));
  freeze(version.split('.').slice(0, 2).join('.'));
  git('add', '.');
  git('commit', '--quiet', '--message', 'ready');
  git('tag', '--annotate', `v${version}`, '--message', 'the release');
  const tagged = git('show-ref', '--tags');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/release.mjs', version, '--publish'],
    { cwd: copy, encoding: 'utf8', env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } },
  );
  expect([status, stderr.replace(/^[…✓].*\n/gm, '')]).toEqual([0, '']);
  for (const file of ['SHA256SUMS', 'NOTES.md', `studio-${version}.oci.tar`, 'client.tgz'])
    expect(stdout).toContain(file);
  expect(git('show-ref', '--tags')).toBe(tagged);
});

/** A folder with git alone. */
function withoutDocker(): string {
  const folder = join(copy, '.git/only');
  mkdirSync(folder);
  const { stdout } = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' });
  symlinkSync(stdout.trim(), join(folder, 'git'));
  return folder;
}

/** A build whose schema has one step with this hash. */
function build(hash: string, code: string): void {
  const database = join(copy, 'dist/src/database');
  for (const folder of [database, join(copy, 'dist/activities'), join(copy, 'dist/workflows')])
    mkdirSync(folder, { recursive: true });
  const steps = `exports.migrations = [{ name: '0001_a' }]; exports.hashOf = () => '${hash}';`;
  writeFileSync(join(database, 'migrations.js'), steps);
  writeFileSync(join(copy, 'dist/workflow-bundle.js'), code);
}

/** Freezes what build('x', …) made. */
function freeze(minor: string): void {
  const folder = join(copy, 'test/releases', minor);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'release.json'),
    JSON.stringify({ steps: [{ name: '0001_a', hash: 'x' }] }),
  );
  inCopy(`writeFileSync('${join(folder, 'program.json.br')}', frozen.packedProgram())`);
}

function inCopy(code: string): string {
  const script = `import * as artifacts from './scripts/lib/release/artifacts.mjs';
    import * as frozen from './scripts/lib/release/frozen.mjs';
    import { writeFileSync } from 'node:fs'; ${code}`;
  const args = ['--input-type=module', '--eval', script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

test('a release needs frozen what it publishes: its schema, and for a new minor version its program', () => {
  const unfrozen = (of: string) => inCopy(`console.log(frozen.unfrozen('${of}').join())`);
  build('x', 'one');
  expect(unfrozen('1.2.0')).toBe('freeze what is released: npm run release:freeze -- 1.2');
  freeze('1.2');
  expect([unfrozen('1.2.0'), unfrozen('1.2.1')]).toEqual(['', '']);
  const about = JSON.parse(read('package.json'));
  const aboutWith = (change: object) =>
    writeFileSync(join(copy, 'package.json'), JSON.stringify({ ...about, ...change }));
  aboutWith({ devDependencies: { jest: '99.0.0' }, scripts: { fix: 'another' } });
  expect(unfrozen('1.2.0')).toBe('');
  aboutWith({ dependencies: { koa: '99.0.0' } });
  expect(unfrozen('1.2.0')).toContain('the program is another one');
  aboutWith({});
  build('x', 'two');
  expect([unfrozen('1.2.0'), unfrozen('1.2.1')]).toEqual([
    expect.stringMatching(/^freeze again, because the program is another one: npm run .* 1\.2$/),
    '',
  ]);
  build('y', 'one');
  expect([unfrozen('1.2.0'), unfrozen('1.2.1')]).toEqual([
    expect.stringContaining('the schema is another one'),
    'release the next minor version: a patch has no step of the schema',
  ]);
});

test('what is frozen of a released version stays as it is', () => {
  git('tag', 'v1.2.0');
  const { status, stderr } = spawnSync(process.execPath, ['scripts/freeze.mjs', '1.2'], {
    cwd: copy,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('1.2.0 is released')]);
});

test('an empty section of the changelog is refused', () => {
  tellOf(`${version} - not released`, '');
  const { status, stderr } = release(version, '--dry-run');
  expect([status, stderr]).toEqual([1, expect.stringContaining('is empty')]);
});

test.each(['', 'v1.0.0', '1.0', '1.0.0+build', '1.0.0-rc.1'])('%j is no version', (text) => {
  const { status, stderr } = release(text, '--dry-run');
  expect([status, stderr]).toEqual([1, expect.stringContaining('VERSION is like')]);
});
