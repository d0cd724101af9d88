// A disk without room: it fails the job or refuses the order, and the studio lives on. The disk is
// a small one in memory, which only some systems let us make.

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
  // Nothing of its own shall take the room meanwhile.
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

test('a rendering that finds no room fails with that, and the next one succeeds', async () => {
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

test('an order that cannot be written down is not accepted; jobs under way end, and nothing is forgotten', async () => {
  if (!studio) return;
  const taken = [await studio.accepted({ studio: { render: 'none', run_s: 1 } })];
  leaveFree(0);
  let refusal = await studio.create({});
  // The journal's last page may have room for a few more.
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

/** Fills the disk but for so many bytes. */
function leaveFree(bytes: number): void {
  for (const chunk of [100_000, 4096, 1]) {
    try {
      for (;;) appendFileSync(filler(), Buffer.alloc(chunk));
    } catch {
      // Full for a piece of this size; a smaller one may still fit.
    }
  }
  const { size } = statSync(filler());
  rmSync(filler());
  writeFileSync(filler(), Buffer.alloc(size - bytes));
}
