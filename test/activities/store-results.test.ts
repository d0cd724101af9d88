// The activity that stores the results of a task, when their files are not kept as long as it takes.

import { createFileActivities } from '../../activities/results/store-results';
import { findResults, markStored } from '../../src/db/files/results';
import { giveUpResults, takeDown } from '../../src/db/files/retention';
import { quietWorker } from '../support/callbacks';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { startUpstream, type Upstream } from '../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db);
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
});

const storedBytes = {
  ...{ contentType: 'video/mp4', length: 5, sha256: Buffer.alloc(32) },
  ...{ size: null, durationMs: null },
};

function store(taskId: string) {
  const source = { url: 'http://127.0.0.1:1/x', channel: 'studio', expiresAt: null };
  const sources = [{ role: 'video', ...source }] as const;
  const { storeResults } = createFileActivities(upstream.deps);
  const input = { taskId, sources, triedForSeconds: 200_000 };
  return quietWorker().run(storeResults, input);
}

/** A task whose video could not be copied yet. */
async function aTaskWithAwaitedVideo(): Promise<{ taskId: string; fileId: string }> {
  const { taskId } = await upstream.input();
  await expect(store(taskId)).rejects.toMatchObject({ type: 'NotStored' });
  const [file] = await findResults(database.db, taskId);
  return { taskId, fileId: file?.id ?? '' };
}

test('results that expire before all of them are stored count as not stored', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await markStored(database.db, fileId, storedBytes)).toBe(true);
  await database.db.raw('update files set expires_at = now() where id = ?', [fileId]);
  expect(await store(taskId)).toEqual({ stored: false });
  const given = upstream.events.filter(({ name }) => name === 'resultNotStored').at(-1);
  expect(given?.args.slice(0, 3)).toEqual([taskId, 'video', 'given_up']);
});

test('a file of a task that has not ended cannot be removed by the operator', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await markStored(database.db, fileId, storedBytes)).toBe(true);
  expect(await takeDown(database.db, fileId)).toBeNull();
  expect(await store(taskId)).toMatchObject({ stored: true });
});

test('an attempt that gives up too late keeps the results that another attempt has stored', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await markStored(database.db, fileId, storedBytes)).toBe(true);
  expect(await giveUpResults(database.db, taskId)).toBe(false);
  expect(await store(taskId)).toMatchObject({ stored: true });
});

test('a copy that ends after another attempt has given up is not stored', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await giveUpResults(database.db, taskId)).toBe(true);
  expect(await markStored(database.db, fileId, storedBytes)).toBe(false);
  expect(await store(taskId)).toEqual({ stored: false });
});
