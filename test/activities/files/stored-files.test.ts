// These tests delete the bytes of files. Each test first stores the rows and objects.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { openDirectory } from '../../../src/files/storage/directory';
import { type Storage, StorageError } from '../../../src/files/storage/storage';
import { beginUpload, finishUpload, forgetRemovedUploads } from '../../../src/files/uploads.rows';
import { createAccount } from '../../../src/money/new-account.rows';
import { aTaskId } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { lengthOf, plantFile } from '../../support/files';
import { deleteDueFiles } from '../../support/owed';
import { insertTaskRow } from '../../support/upstream';

let database: TestDatabase;
let db: Knex;
let folder: string;
let storage: Storage;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
  folder = await mkdtemp(join(tmpdir(), 'video-files-'));
  storage = await openDirectory(folder);
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

async function anObject(key: string): Promise<void> {
  await storage.write(key, Readable.from([Buffer.from('bytes')]), {
    contentType: 'video/mp4',
    length: 5,
  });
}

/** Stores a task, its result and the object of the result. Returns the task's id. */
async function aResult(columns: Readonly<Record<string, unknown>>): Promise<string> {
  const taskId = aTaskId();
  await insertTaskRow(db, taskId);
  await db('tasks')
    .where({ id: taskId })
    .update({
      finished_at: db.raw(`now() - interval '1 hour'`),
      object: JSON.stringify({ data: [{ url: 'https://example.com/a.mp4' }] }),
    });
  await db('files').insert({
    id: `file_${randomBytes(16).toString('hex')}`,
    account_id: 'acct_test',
    task_id: taskId,
    role: 'video',
    key: `results/${taskId}/video`,
    link_token: randomBytes(24).toString('base64url'),
    media: 'video',
    content_type: 'video/mp4',
    length: 5,
    expires_at: db.raw(`now() + interval '30 days'`),
    ...columns,
  });
  await anObject(`results/${taskId}/video`);
  return taskId;
}

const stateOf = (taskId: string) =>
  db('files').where({ task_id: taskId }).first('state', 'removed_because');
const objectOf = async (taskId: string) => (await db('tasks').where({ id: taskId }).first()).object;
const bytesOf = (taskId: string) => lengthOf(storage, `results/${taskId}/video`);

test('the bytes of an expired file are deleted, its row records the reason, and other files stay', async () => {
  const old = await aResult({ state: 'stored', expires_at: db.raw(`now() - interval '1 second'`) });
  const young = await aResult({ state: 'stored' });
  const refusing = {
    ...storage,
    remove: () => Promise.reject(new StorageError('away', 'The storage is away.')),
  };
  expect(await deleteDueFiles({ db, storage: refusing })).toBe(0);
  expect([await bytesOf(old), await deleteDueFiles({ db, storage })]).toEqual([5, 0]);
  await db('files')
    .where({ task_id: old })
    .update({ due_at: db.raw(`due_at - interval '10 minutes'`) });
  expect(await deleteDueFiles({ db, storage })).toBe(1);
  expect(await stateOf(old)).toEqual({ state: 'removed', removed_because: 'expired' });
  expect([await bytesOf(old), await bytesOf(young)]).toEqual([null, 5]);
  expect(await objectOf(old)).toEqual({ data: [{ url_gone_reason: 'expired' }] });
  expect(await objectOf(young)).toEqual({ data: [{ url: 'https://example.com/a.mp4' }] });
  expect(await deleteDueFiles({ db, storage })).toBe(0);
});

test('the bytes of an expired result stay until its task is over, because they may just be copied', async () => {
  const taskId = await aResult({
    ...{ state: 'awaited', expires_at: db.raw(`now() - interval '1 second'`) },
  });
  const { finished_at, object } = await db('tasks').where({ id: taskId }).first();
  await db('tasks').where({ id: taskId }).update({ finished_at: null, object: null });
  expect([await deleteDueFiles({ db, storage }), await bytesOf(taskId)]).toEqual([0, 5]);
  await db('tasks').where({ id: taskId }).update({ finished_at, object });
  await db('files')
    .where({ task_id: taskId })
    .update({ due_at: db.raw('expires_at') });
  expect([await deleteDueFiles({ db, storage }), await bytesOf(taskId)]).toEqual([1, null]);
});

test('an upload whose API process died is removed after half an hour, and can no longer be finished', async () => {
  const { accountId } = await createAccount(db, {
    name: 'uploads',
    creditMicros: 1,
  });
  const begin = async (name: string) => {
    const key = `uploads/${accountId}/${name}`;
    const upload = { id: name, accountId, key, linkToken: name, name, reservedBytes: 5 } as const;
    const type = { media: 'video', contentType: 'video/mp4' } as const;
    const limits = { filesMax: 9, bytesMax: 99 };
    expect(await beginUpload(db, { ...upload, ...type }, limits)).toBeNull();
    await anObject(key);
    return key;
  };
  const [dead, inProgress] = [await begin('file_dead'), await begin('file_in_progress')];
  await db('files')
    .whereIn('id', ['file_dead', 'file_in_progress'])
    .update({ expires_at: db.raw(`expires_at - interval '29 minutes'`) });
  await db('files')
    .where({ id: 'file_dead' })
    .update({ expires_at: db.raw(`expires_at - interval '2 minutes'`) });
  expect(await deleteDueFiles({ db, storage })).toBe(1);
  expect([await lengthOf(storage, dead), await lengthOf(storage, inProgress)]).toEqual([null, 5]);
  const known = { length: 5, sha256: Buffer.from('digest'), durationMs: null };
  expect(await finishUpload(db, 'file_dead', known, 30)).toBeNull();
  const { secondsLeft = 0 } = (await finishUpload(db, 'file_in_progress', known, 30)) ?? {};
  expect(secondsLeft).toBeGreaterThan(29 * 86_400);
  await storage.remove(inProgress);
  await db('files').where({ account_id: accountId }).delete();
});

test('the bytes of a removed file are deleted, even if the process that removed it died before that', async () => {
  const removed = await aResult({
    state: 'removed',
    removed_because: 'caller',
    expires_at: db.raw(`now() - interval '1 second'`),
  });
  expect(await deleteDueFiles({ db, storage })).toBe(1);
  expect(await bytesOf(removed)).toBeNull();
  expect(await stateOf(removed)).toEqual({ state: 'removed', removed_because: 'caller' });
  expect(await deleteDueFiles({ db, storage })).toBe(0);
});

test.each([
  ['are denied', new StorageError('denied', 'It is denied.')],
  ['are broken', Object.assign(new Error('EIO'), { code: 'EIO' })],
])('files whose deletions %s do not block the expiry of others', async (_, failure) => {
  const past = (hours: number) => db.raw(`now() - make_interval(hours => ?)`, [hours]);
  const of = { db, storage, accountId: 'acct_test' };
  const stuck = new Set<string>();
  for (let nth = 0; nth < 200; nth += 1) {
    stuck.add((await plantFile(of, Buffer.from('x'), { expires_at: past(2) })).key);
  }
  const later = await plantFile(of, Buffer.from('x'), { expires_at: past(1) });
  const refusing: Storage = {
    ...storage,
    remove: (key) => (stuck.has(key) ? Promise.reject(failure) : storage.remove(key)),
  };
  expect(await deleteDueFiles({ db, storage: refusing })).toBe(1);
  expect(await lengthOf(storage, later.key)).toBeNull();
  await db('files')
    .whereIn('key', [...stuck])
    .update({ due_at: past(1) });
  expect(await deleteDueFiles({ db, storage })).toBe(200);
  await db('files').where({ account_id: 'acct_test', role: 'upload' }).delete();
});

test('the row of an upload that was removed 35 days ago is deleted', async () => {
  const of = { db, storage, accountId: 'acct_test' };
  const plant = (daysAgo: number, state = 'removed') =>
    plantFile(of, Buffer.from('bytes'), {
      state,
      removed_because: state === 'removed' ? 'caller' : null,
      removed_at: db.raw('now() - make_interval(days => ?)', [daysAgo]),
    });
  await plant(36);
  const kept = [await plant(34), await plant(36, 'stored')];
  await forgetRemovedUploads(db, 35, 100);
  const ids = await db('files').where({ role: 'upload' }).orderBy('id').pluck('id');
  expect(ids).toEqual(kept.map(({ id }) => id).sort());
});
