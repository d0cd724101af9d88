// Tests the storage that keeps files in a directory. It must pass the common tests of every
// storage, and it has faults of its own.

import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openDirectory } from '../../../src/files/storage/directory';
import { failAsStorage } from '../../../src/files/storage/file-faults';
import { reportedStorage } from '../../../src/files/storage/reported-storage';
import type { StorageError } from '../../../src/files/storage/storage';
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

test.each([
  ...['EIO', 'ESTALE', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTDOWN', 'EMFILE', 'ENFILE'].map((code) => [
    code,
    'away',
  ]),
  ['EDQUOT', 'full'],
  ['EROFS', 'denied'],
])('the error %s of the file system is the fault "%s"', (code, fault) => {
  const fail = () => failAsStorage(Object.assign(new Error(code), { code }));
  expect(fail).toThrow(expect.objectContaining({ name: 'StorageError', fault }));
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a disk that fails in the middle of a read is reported as the fault "away"', async () => {
  const folder = join(await newFolder(), 'files');
  const faults: string[] = [];
  const report = ({ fault }: StorageError) => void faults.push(fault);
  const storage = reportedStorage(await openDirectory(folder), report);
  // A read of the first page of a process's memory fails with EIO.
  await symlink('/proc/self/mem', join(folder, 'broken.mp4'));
  const bytes = (await storage.read('broken.mp4')) as Readable;
  await expect(buffer(bytes)).rejects.toMatchObject({ name: 'StorageError', fault: 'away' });
  expect(faults).toEqual(['away']);
});

onLinux('a file that cannot be opened is reported as the fault "away"', async () => {
  const folder = join(await newFolder(), 'files');
  const storage = await openDirectory(folder);
  // Opening a socket fails with ENXIO.
  const server = createServer().listen(join(folder, 'broken.mp4'));
  await once(server, 'listening');
  await expect(storage.read('broken.mp4')).rejects.toMatchObject({ fault: 'away' });
  server.close();
});

test('a file that is deleted while it is read is read to its end', async () => {
  const storage = await openDirectory(join(await newFolder(), 'files'));
  await writeTo(storage);
  const bytes = (await storage.read('a.mp4')) as Readable;
  await storage.remove('a.mp4');
  expect(String(await buffer(bytes))).toBe('a');
  expect(await storage.read('a.mp4')).toBeNull();
});
