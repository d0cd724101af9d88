// Tests ops/backup.sh. Small scripts on the PATH replace pg_dump and pg_restore.

import { spawnSync } from 'node:child_process';
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

function program(name: string, does: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
}

function backup() {
  return spawnSync('/bin/sh', [script, 'once'], {
    encoding: 'utf8',
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      PGDATABASE: 'video',
      BACKUP_FOLDER: join(folder, 'dumps'),
      METRICS_FOLDER: join(folder, 'metrics'),
    },
  });
}

const dumps = () => readdirSync(join(folder, 'dumps')).sort();
const metric = () => readFileSync(join(folder, 'metrics', 'backup.prom'), 'utf8');
