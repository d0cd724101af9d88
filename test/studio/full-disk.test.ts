// A full disk fails the job or refuses the order, and the studio stays up. The disk is a small
// tmpfs, which only some systems allow us to mount.

import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenStudio, openStudio } from './open-studio';
import { shortFilm } from './rendered';

const sampleNames = ['dawn.jpg', 'ocean.jpg', 'night-city.jpg', 'forest.jpg'];

let folder: string;
let studio: OpenStudio | undefined;
let hasDisk = false;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-small-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder]);
  hasDisk = mounted.status === 0;
  if (!hasDisk) {
    process.stdout.write('Left out, because no small disk can be mounted here: a full disk.\n');
    return;
  }
  // Samples must not use the free space meanwhile.
  mkdirSync(join(folder, 'samples'));
  for (const name of [...sampleNames, 'mountains.mp4', 'chime.wav']) {
    writeFileSync(join(folder, 'samples', name), '');
  }
  studio = await openStudio({ dataDir: folder });
});
afterEach(() => rmSync(filler(), { force: true }));
afterAll(async () => {
  await studio?.close();
  if (hasDisk) spawnSync('umount', [folder]);
  await rm(folder, { recursive: true, force: true });
});

test('a rendering fails on a full disk, and the next one succeeds', async () => {
  if (!studio) return;
  leaveFree(60_000);
  const { error } = await studio.reaching(await studio.accepted(shortFilm), 'failed');
  expect(error).toEqual({
    code: 'InternalServiceError',
    message: 'The disk of the studio is full.',
  });
  rmSync(filler());
  await studio.reaching(await studio.accepted(shortFilm), 'succeeded', 50_000);
});

test('a create that cannot be stored is refused; running jobs end, and none is lost', async () => {
  if (!studio) return;
  const taken = [await studio.accepted({ studio: { render: 'none', run_s: 1 } })];
  leaveFree(0);
  let refusal = await studio.create({});
  // The last page of the journal may have room for a few more orders.
  for (; refusal.status === 200; refusal = await studio.create({})) taken.push(refusal.json.id);
  expect(refusal.status).toBe(500);
  expect(refusal.json.error.code).toBe('InternalServiceError');
  for (const id of taken) await studio.reaching(id, 'succeeded');
  rmSync(filler());
  taken.push(await studio.accepted({}));
  await studio.close();
  studio = await openStudio({ dataDir: folder });
  for (const id of taken) await studio.reaching(id, 'succeeded');
});

function filler(): string {
  return join(folder, 'filler');
}

/** Fills the disk except for this many bytes. */
function leaveFree(bytes: number): void {
  for (const chunk of [100_000, 4096, 1]) {
    try {
      for (;;) appendFileSync(filler(), Buffer.alloc(chunk));
    } catch {
      // A piece of this size no longer fits; a smaller one may.
    }
  }
  const { size } = statSync(filler());
  rmSync(filler());
  writeFileSync(filler(), Buffer.alloc(size - bytes));
}
