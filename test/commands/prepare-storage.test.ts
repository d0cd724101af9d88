// Tests the folder of stored files when a process starts. A process creates the folder of a new
// service, and does not start if the database has files and the folder has none.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareStorage } from '../../src/commands/prepare-storage';
import { readConfig } from '../../src/config/config';
import { openDirectory } from '../../src/files/storage/directory';
import { anAccountWith } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { plantFile } from '../support/files';
import { endAllProcesses, runProcess } from '../support/processes';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';

let database: TestDatabase;
let parent: string;
let storageDir: string;
let folders = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  parent = await mkdtemp(join(tmpdir(), 'video-prepare-'));
});
beforeEach(async () => {
  await database.db('files').delete();
  storageDir = join(parent, String(++folders));
});
afterAll(async () => {
  await endAllProcesses();
  await database?.drop();
  await rm(parent, { recursive: true, force: true });
});

async function storeFile(): Promise<void> {
  const { db } = database;
  const accountId = await anAccountWith(db, `acct_prepare_${folders}`, 0);
  const storage = await openDirectory(storageDir);
  await plantFile({ db, storage, accountId }, Buffer.from('bytes'));
}

/** As if the volume were not mounted, with or without its mount point. */
async function unmount(hasMountPoint: boolean): Promise<void> {
  await rm(storageDir, { recursive: true });
  if (hasMountPoint) await mkdir(storageDir);
}

const environment = () => ({
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: temporalAddress(),
  TEMPORAL_TASK_QUEUE: uniqueTaskQueue(),
  STUDIO_URL: 'http://127.0.0.1:1',
  STUDIO_API_KEY: 'a key for tests',
  DATA_DIR: '/none',
  PORT: '0',
  STORAGE_DIR: storageDir,
});

const prepare = (over = {}) =>
  prepareStorage(readConfig('admin', { ...environment(), ...over }), database.db);

test.each([
  ['api', true],
  ['worker', false],
])(
  'the process %s does not start if the database has files and the volume is not mounted',
  async (name, hasMountPoint) => {
    await storeFile();
    await unmount(hasMountPoint);
    const { code, err } = await runProcess([name], environment());
    expect(code).toBe(1);
    expect(err).toMatch(
      /^The database has stored files, but .*STORAGE_DIR.* Mount its volume .*\n$/,
    );
    expect(err).toContain(storageDir);
    expect(existsSync(join(storageDir, '.unfinished'))).toBe(false);
  },
);

test('a process starts with the folder that has the files, and with one that an operator has created', async () => {
  await storeFile();
  await prepare();
  await unmount(true);
  await expect(prepare()).rejects.toThrow('Mount its volume');
  await mkdir(join(storageDir, '.unfinished'));
  await prepare();
});

test('the first process of a new service creates the folder', async () => {
  await prepare();
  expect(existsSync(join(storageDir, '.unfinished'))).toBe(true);
});

test('a process with a bucket neither needs nor creates the folder of files', async () => {
  await storeFile();
  await unmount(false);
  const bucket = { S3_BUCKET: 'b', S3_ENDPOINT: 'http://127.0.0.1:1' };
  await prepare({ ...bucket, S3_ACCESS_KEY_ID: 'k', S3_SECRET_ACCESS_KEY: 's' });
  expect(existsSync(storageDir)).toBe(false);
});
