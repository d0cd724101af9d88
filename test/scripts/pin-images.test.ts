// Tests scripts/pin-images.mjs. A small script on the PATH replaces docker.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const script = resolve(__dirname, '../../scripts/pin-images.mjs');
const digest = `sha256:${'a'.repeat(64)}`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-pin-'));
  write(
    'Dockerfile',
    `FROM --platform=linux node:24.1.0-slim AS build\nFROM node:24.1.0-slim@sha256:${'b'.repeat(64)}\nFROM build AS last\n`,
  );
  write(
    'docker-compose.yml',
    `    image: service:\${TAG:-local}\n    image: prom/prometheus:v3.1.0\n`,
  );
});

afterEach(() => rmSync(folder, { recursive: true }));

test('`pin-images.mjs` writes a digest after each image tag and replaces an older digest', () => {
  docker(`echo ${digest}`);
  expect(pin()).toMatchObject({ status: 0, stdout: expect.stringContaining('2 images pinned') });
  expect(file('Dockerfile')).toBe(
    `FROM --platform=linux node:24.1.0-slim@${digest} AS build\nFROM node:24.1.0-slim@${digest}\nFROM build AS last\n`,
  );
  expect(file('docker-compose.yml')).toBe(
    `    image: service:\${TAG:-local}\n    image: prom/prometheus:v3.1.0@${digest}\n`,
  );
});

test('`pin-images.mjs` changes no file and names the image if a digest cannot be read', () => {
  docker(`case $6 in node*) echo ${digest};; *) echo 'no such manifest' >&2; exit 1;; esac`);
  const before = file('Dockerfile');
  const { status, stderr } = pin();
  expect(status).toBe(1);
  expect(stderr).toMatch(/^.*prom\/prometheus:v3\.1\.0 .*no such manifest\n$/);
  expect(file('Dockerfile')).toBe(before);
});

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const file = (name: string) => readFileSync(join(folder, name), 'utf8');

function docker(does: string): void {
  writeFileSync(join(folder, 'docker'), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
}

function pin() {
  return spawnSync(process.execPath, [script, folder], {
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env.PATH}` },
  });
}
