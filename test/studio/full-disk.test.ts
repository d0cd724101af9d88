// Tests the studio on a full disk. A rendering fails, a create is refused, and the studio keeps
// running.

import { mountSmallDisk, type SmallDisk } from '../support/small-disk';
import { type OpenStudio, openStudio } from './open-studio';
import { shortFilm } from './rendered';

let disk: SmallDisk | null;
let studio: OpenStudio | undefined;

beforeAll(async () => {
  disk = await mountSmallDisk(6, 'a full disk of the studio');
  if (!disk) return;
  studio = await openStudio({ dataDir: disk.folder });
});
afterEach(() => disk?.empty());
afterAll(async () => {
  await studio?.close();
  await disk?.remove();
});

test('a rendering fails on a full disk, and the next rendering succeeds after space is freed', async () => {
  if (!studio || !disk) return;
  disk.leaveFree(60_000);
  const { error } = await studio.reaching(await studio.accepted(shortFilm), 'failed');
  expect(error).toEqual({
    code: 'InternalServiceError',
    message: 'The disk of the studio is full.',
  });
  disk.empty();
  await studio.reaching(await studio.accepted(shortFilm), 'succeeded', 50_000);
});

test('on a full disk the studio refuses creates, ends running jobs, and loses no accepted job', async () => {
  if (!studio || !disk) return;
  const taken = [await studio.accepted({ studio: { render: 'none', run_s: 1 } })];
  disk.leaveFree(0);
  let refusal = await studio.create({});
  // The last page of the journal may have room for a few more creates.
  for (; refusal.status === 200; refusal = await studio.create({})) taken.push(refusal.json.id);
  expect(refusal.status).toBe(500);
  expect(refusal.json.error.code).toBe('InternalServiceError');
  for (const id of taken) await studio.reaching(id, 'succeeded');
  disk.empty();
  taken.push(await studio.accepted({}));
  await studio.close();
  studio = await openStudio({ dataDir: disk.folder });
  for (const id of taken) await studio.reaching(id, 'succeeded');
});
