// Tests the storage that keeps files in a directory. It must pass the common tests of every
// storage, and it has faults of its own.

import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openDirectory } from '../../src/storage/directory';
import { testStorage } from './conformance';

const folders: string[] = [];
const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-storage-'));
  folders.push(folder);
  return folder;
};
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

testStorage(async () => openDirectory(join(await newFolder(), 'files')));

const writeTo = (storage: Awaited<ReturnType<typeof openDirectory>>) =>
  storage.write('a.mp4', Readable.from([Buffer.from('a')]), {
    contentType: 'video/mp4',
    length: 1,
  });

test('a list of many objects contains each object exactly once', async () => {
  const storage = await openDirectory(join(await newFolder(), 'files'));
  const keys = Array.from({ length: 100 }, (_, n) => `results/task_${n}/video`);
  const write = (key: string) =>
    storage.write(key, Readable.from([Buffer.from('a')]), { contentType: 'video/mp4', length: 1 });
  await Promise.all(keys.map(write));
  const found: string[] = [];
  for await (const { key } of storage.list('results/')) found.push(key);
  expect(found.sort()).toEqual(keys.sort());
});

test('a write into a removed directory fails with the fault "no bucket"', async () => {
  const folder = join(await newFolder(), 'files');
  const storage = await openDirectory(folder);
  await rm(folder, { recursive: true });
  await expect(writeTo(storage)).rejects.toMatchObject({ fault: 'no bucket' });
});

test('a write, a read and a removal fail if the volume is not mounted and the directory is empty', async () => {
  const folder = join(await newFolder(), 'files');
  const storage = await openDirectory(folder);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  for (const fails of [writeTo(storage), storage.read('a/b'), storage.remove('a/b')]) {
    await expect(fails).rejects.toMatchObject({ fault: 'no bucket' });
  }
  await writeTo(await openDirectory(folder));
});

const asRoot = process.getuid?.() === 0;
(asRoot ? test.skip : test)(
  'a write into a directory without permission fails with the fault "denied"',
  async () => {
    const folder = join(await newFolder(), 'files');
    const storage = await openDirectory(folder);
    await chmod(join(folder, '.unfinished'), 0o500);
    await expect(writeTo(storage)).rejects.toMatchObject({ fault: 'denied' });
  },
);
