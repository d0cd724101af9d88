// Uploads whose process died are deleted with their bytes, once the storage works; every other file stays.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteDeadUploads } from '../../activities/reconcile/dead-uploads';
import { createAccount } from '../../src/db/accounts';
import { openDirectory } from '../../src/storage/directory';
import { StorageError } from '../../src/storage/storage';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { lengthOf, plantFile } from '../support/files';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'video-dead-uploads-'));
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

test('an awaited upload of half an hour ago is deleted, one in progress and a stored one are not', async () => {
  const { db } = database;
  const storage = await openDirectory(folder);
  const { accountId } = await createAccount(db, {
    name: 'a',
    pepper: 'a pepper for tests',
    creditMicros: 1,
  });
  const plant = (state: string, age: string) =>
    plantFile({ db, storage, accountId }, Buffer.from('bytes'), {
      state,
      created_at: db.raw(`now() - cast(? as interval)`, [age]),
    });
  const dead = await plant('awaited', '31 minutes');
  const kept = [await plant('awaited', '29 minutes'), await plant('stored', '1 day')];
  const refusing = {
    ...storage,
    remove: () => Promise.reject(new StorageError('away', 'The storage is away.')),
  };
  expect(await deleteDeadUploads({ db, inputs: { storage: refusing } })).toBe(0);
  expect(await db('files').where({ id: dead.id }).first('state')).toEqual({ state: 'awaited' });
  expect(await deleteDeadUploads({ db, inputs: { storage } })).toBe(1);
  expect(await lengthOf(storage, dead.key)).toBeNull();
  const ids = await db('files').orderBy('id').pluck('id');
  expect(ids).toEqual(kept.map(({ id }) => id).sort());
  for (const { key } of kept) expect(await lengthOf(storage, key)).toBe(5);
  expect(await deleteDeadUploads({ db, inputs: { storage } })).toBe(0);
});
