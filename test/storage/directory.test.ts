// Files in a directory.

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

test('many objects are listed, each once', async () => {
  const storage = await openDirectory(join(await newFolder(), 'files'));
  const keys = Array.from({ length: 100 }, (_, n) => `results/task_${n}/video`);
  const write = (key: string) =>
    storage.write(key, Readable.from([Buffer.from('a')]), { contentType: 'video/mp4', length: 1 });
  await Promise.all(keys.map(write));
  const found: string[] = [];
  for await (const { key } of storage.list('results/')) found.push(key);
  expect(found.sort()).toEqual(keys.sort());
});

test('a missing directory is reported as such', async () => {
  const folder = join(await newFolder(), 'files');
  const storage = await openDirectory(folder);
  await rm(folder, { recursive: true });
  await expect(writeTo(storage)).rejects.toMatchObject({ fault: 'no bucket' });
});

test('a volume that is not mounted is a fault, not an empty storage', async () => {
  const folder = join(await newFolder(), 'files');
  const storage = await openDirectory(folder);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await expect(writeTo(storage)).rejects.toMatchObject({ fault: 'no bucket' });
  await writeTo(await openDirectory(folder));
});

const asRoot = process.getuid?.() === 0;
(asRoot ? test.skip : test)('a directory that may not be written is named as such', async () => {
  const folder = join(await newFolder(), 'files');
  const storage = await openDirectory(folder);
  await chmod(join(folder, '.unfinished'), 0o500);
  await expect(writeTo(storage)).rejects.toMatchObject({ fault: 'denied' });
});
