// Tests ops/backup.sh. Small scripts on the PATH replace pg_dump and pg_restore.

import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../support/until';

const script = resolve(__dirname, '../../ops/backup.sh');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-backup-'));
  for (const name of ['bin', 'dumps', 'metrics']) mkdirSync(join(folder, name));
  program('pg_dump', 'echo dump > "$3"');
  program('pg_restore', 'exit 0');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('the backup script makes a dump and records the time of the dump', () => {
  expect(backup().status).toBe(0);
  expect(dumps()).toEqual([expect.stringMatching(/^video-\d{4}-\d\d-\d\dT\d{6}Z\.dump$/)]);
  expect(metric()).toMatch(/^backup_finished_timestamp_seconds\{database="video"\} \d{10}\n$/);
});

test('only the owner can read a dump, and everybody can read the metric', () => {
  expect(backup().status).toBe(0);
  const modeOf = (...path: string[]) => statSync(join(folder, ...path)).mode & 0o777;
  expect(modeOf('dumps', dumps()[0] ?? '')).toBe(0o600);
  expect(modeOf('metrics', 'backup.prom')).toBe(0o644);
});

test.each([
  ['fails', 'pg_dump', 'echo half > "$3"; exit 1'],
  ['cannot be read', 'pg_restore', 'exit 1'],
])('the backup script leaves no file and records no time if a dump %s', (_, name, does) => {
  program(name, does);
  const { status, stderr } = backup();
  expect(status).toBe(1);
  expect(stderr).toContain('the dump of video failed');
  expect(dumps()).toEqual([]);
  expect(() => metric()).toThrow('ENOENT');
});

test('the backup script deletes only the old dumps of its own database, and what killed dumps left', () => {
  const parts = ['video-old.dump.part', 'other-old.dump.part'];
  for (const name of ['video-old.dump', 'video-recent.dump', 'other-old.dump', ...parts]) {
    writeFileSync(join(folder, 'dumps', name), '');
    const days = name.includes('old') ? 20 : 3;
    const then = new Date(Date.now() - days * 86_400_000);
    utimesSync(join(folder, 'dumps', name), then, then);
  }
  expect(backup().status).toBe(0);
  expect(dumps()).toEqual([
    'other-old.dump',
    'other-old.dump.part',
    expect.stringContaining('video-2'),
    'video-recent.dump',
  ]);
});

const copying = () => ({ BACKUP_COPY_COMMAND: `cp "$1" ${join(folder, 'elsewhere')}/` });

test('each dump is copied to another place', () => {
  mkdirSync(join(folder, 'elsewhere'));
  expect(backup(copying()).status).toBe(0);
  expect(readdirSync(join(folder, 'elsewhere'))).toEqual(dumps());
  expect(metric()).toMatch(/ \d{10}\n$/);
});

test('a dump whose copy fails is kept and does not count, and is copied later', async () => {
  const { status, stderr } = backup(copying());
  expect([status, stderr]).toEqual([1, expect.stringMatching(/the copy of .*\.dump failed/)]);
  expect(dumps()).toHaveLength(1);
  expect(() => metric()).toThrow('ENOENT');
  mkdirSync(join(folder, 'elsewhere'));
  await running(copying(), () => {
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(dumps());
    metric();
  });
  expect(dumps()).toHaveLength(1);
});

test('a dump that is older than the interval is followed by another', async () => {
  const old = join(folder, 'dumps', 'video-old.dump');
  writeFileSync(old, '');
  const twoHoursAgo = new Date(Date.now() - 7_200_000);
  utimesSync(old, twoHoursAgo, twoHoursAgo);
  await running({ BACKUP_INTERVAL_HOURS: '1' }, () => expect(dumps()).toHaveLength(2));
});

/** Runs the script as a service, until the check passes. */
async function running(more: Readonly<Record<string, string>>, check: () => void): Promise<void> {
  const child = spawn('/bin/sh', [script], { env: environment(more), detached: true });
  try {
    await until('the script has done it', async () => {
      try {
        check();
        return true;
      } catch {
        return false;
      }
    });
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  }
}

function program(name: string, does: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
}

const environment = (more: Readonly<Record<string, string>>) => ({
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  PGDATABASE: 'video',
  BACKUP_FOLDER: join(folder, 'dumps'),
  METRICS_FOLDER: join(folder, 'metrics'),
  ...more,
});

function backup(more: Readonly<Record<string, string>> = {}) {
  return spawnSync('/bin/sh', [script, 'once'], { encoding: 'utf8', env: environment(more) });
}

const dumps = () =>
  readdirSync(join(folder, 'dumps'))
    .filter((name) => !name.startsWith('.'))
    .sort();
const metric = () => readFileSync(join(folder, 'metrics', 'backup.prom'), 'utf8');
