// The activity that stores the results of a task, when their files are not kept as long as it takes.

import type { WorkerDeps } from '../../../activities/deps';
import { createFileActivities } from '../../../activities/files/store-results';
import { findResults, markStored } from '../../../src/files/results.rows';
import type { ResultRole } from '../../../src/files/results.rules';
import { giveUpResults } from '../../../src/files/retention.rows';
import type { Storage } from '../../../src/files/storage/storage';
import { takeDown } from '../../../src/tasks/remove-files.rows';
import { aSuccess } from '../../support/builders';
import { endTask, quietWorker } from '../../support/callbacks';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { lengthOf } from '../../support/files';
import { deleteDueFiles } from '../../support/owed';
import { until } from '../../support/until';
import { startUpstream, type Upstream } from '../../support/upstream';
import { webServers } from '../../support/web-servers';

const serve = webServers();
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

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

interface Copy {
  readonly role?: ResultRole;
  readonly url?: string;
  readonly triedForSeconds?: number;
  readonly deps?: WorkerDeps;
}

function store(
  taskId: string,
  {
    role = 'video',
    url = 'http://127.0.0.1:1/x',
    triedForSeconds = 200_000,
    deps = upstream.deps,
  }: Copy = {},
) {
  const sources = [{ role, url, channel: 'studio', expiresAt: null }] as const;
  const { storeResults } = createFileActivities(deps);
  return quietWorker().run(storeResults, { taskId, traceId: '', sources, triedForSeconds });
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
  expect(await markStored(database.db, fileId, storedBytes, 30)).not.toBeNull();
  await database.db.raw('update files set expires_at = now() where id = ?', [fileId]);
  expect(await store(taskId)).toEqual({ stored: false });
  const given = upstream.events.filter(({ name }) => name === 'resultNotStored').at(-1);
  expect(given?.args.slice(0, 3)).toEqual([taskId, 'video', 'given_up']);
});

test('the time for which a result is kept begins when it is stored', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  await database.db.raw(`update files set created_at = now() - interval '29 days' where id = ?`, [
    fileId,
  ]);
  const inDays = (days: number) => Date.now() / 1_000 + days * 86_400;
  const kept = await markStored(database.db, fileId, storedBytes, 30);
  expect(Math.abs((kept ?? 0) - inDays(30))).toBeLessThan(600);
  const stored = (await store(taskId)) as { readonly expiresAt: number };
  expect(stored.expiresAt).toBe(kept);
});

test('a file of a task that has not ended cannot be removed by the operator', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await markStored(database.db, fileId, storedBytes, 30)).not.toBeNull();
  expect(await takeDown(database.db, fileId)).toBeNull();
  expect(await store(taskId)).toMatchObject({ stored: true });
});

test('the bytes of a stored file that the operator removes are deleted at once', async () => {
  const { db } = database;
  const { storage } = upstream.deps;
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  await deleteDueFiles({ db, storage });
  expect(await markStored(db, fileId, storedBytes, 30)).not.toBeNull();
  await endTask(db, taskId);
  expect(await takeDown(db, fileId)).toMatchObject({ id: fileId });
  expect(await deleteDueFiles({ db, storage })).toBe(1);
});

test('an attempt that gives up too late keeps the results that another attempt has stored', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await markStored(database.db, fileId, storedBytes, 30)).not.toBeNull();
  expect(await giveUpResults(database.db, taskId)).toBe(false);
  expect(await store(taskId)).toMatchObject({ stored: true });
});

test('a copy that ends after another attempt has given up is not stored', async () => {
  const { taskId, fileId } = await aTaskWithAwaitedVideo();
  expect(await giveUpResults(database.db, taskId)).toBe(true);
  expect(await markStored(database.db, fileId, storedBytes, 30)).toBeNull();
  expect(await store(taskId)).toEqual({ stored: false });
});

test('the bytes of a copy that ends after its file was given up are deleted, also if its worker dies then', async () => {
  const { db } = database;
  const host = await serve((_, response) => response.end(png));
  const { storage } = upstream.deps;
  const { taskId } = await upstream.input();
  const deleteDue = () => deleteDueFiles({ db, storage });
  let deletedBefore = -1;
  const dying: Storage = {
    ...storage,
    async write(...object) {
      expect(await giveUpResults(db, taskId)).toBe(true);
      await endTask(db, taskId);
      deletedBefore = await deleteDue();
      await storage.write(...object);
      throw new Error('The worker died.');
    },
  };
  const copy = { role: 'last_frame', url: `http://${host}/a.png` } as const;
  const deps = { ...depsWith(host, ''), storage: dying };
  await expect(store(taskId, { ...copy, deps })).rejects.toMatchObject({ type: 'NotStored' });
  const key = `results/${taskId}-last_frame`;
  expect([deletedBefore, await lengthOf(storage, key)]).toEqual([0, png.length]);
  await db('files')
    .where({ task_id: taskId })
    .update({ due_at: db.raw(`due_at - interval '65 minutes'`) });
  expect([await deleteDue(), await lengthOf(storage, key)]).toEqual([1, null]);
});

test('each attempt puts off the deletion of what it may copy', async () => {
  const { taskId } = await aTaskWithAwaitedVideo();
  const row = () => database.db('files').where({ task_id: taskId });
  await row().update({ due_at: null });
  await expect(store(taskId)).rejects.toMatchObject({ type: 'NotStored' });
  const [{ due_at: due }] = await row();
  expect(due - Date.now()).toBeGreaterThan(60 * 60_000);
});

/** Copies from a host that answers nothing until `release`. `asked` counts its requests. */
async function heldCopies(copiesAtOnceMax: number) {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen = { asked: 0 };
  const host = await serve((_, response) => {
    seen.asked += 1;
    void held.then(() => response.writeHead(503).end());
  });
  const settings = {
    ...upstream.deps.settings,
    copiesAtOnceMax,
    dangerouslyAllowProviderHosts: [host],
  };
  const { storeResults } = createFileActivities({ ...upstream.deps, settings });
  const copy = async (channel = 'studio') => {
    const { taskId } = await upstream.input();
    const sources = [{ role: 'video', url: `http://${host}/x`, channel, expiresAt: null }] as const;
    return quietWorker().run(storeResults, { taskId, traceId: '', sources, triedForSeconds: 600 });
  };
  return { copy, seen, release: () => release() };
}

test('a worker that copies the results of as many tasks as it may refuses another task until one copy ends', async () => {
  const { copy, seen, release } = await heldCopies(1);
  const first = copy();
  await until('the first copy has begun', () => seen.asked === 1);
  await expect(copy()).rejects.toMatchObject({ type: 'TooManyCopies' });
  release();
  await expect(first).rejects.toMatchObject({ type: 'NotStored' });
  await expect(copy()).rejects.toMatchObject({ type: 'NotStored' });
});

test.each([
  [2, 1],
  [3, 2],
  [4, 3],
])(
  'of %i copies at once, one channel makes %i and leaves a place to the other channels',
  async (all, ofChannel) => {
    const { copy, seen, release } = await heldCopies(all);
    const running = Array.from({ length: ofChannel }, () => copy());
    await until('the copies have begun', () => seen.asked === ofChannel);
    await expect(copy()).rejects.toMatchObject({ type: 'TooManyCopies' });
    running.push(copy('mediakit'));
    await until('the other channel is copied from', () => seen.asked === all);
    release();
    for (const one of running) await expect(one).rejects.toMatchObject({ type: 'NotStored' });
    await expect(copy()).rejects.toMatchObject({ type: 'NotStored' });
  },
);

/** Files from a local host, whose job answers each read with this link. */
function depsWith(host: string, videoUrl: string): WorkerDeps {
  const { channels, settings, ...rest } = upstream.deps;
  const find = (id: string) => {
    const found = channels.find(id);
    const links = { videoUrl, lastFrameUrl: videoUrl };
    const reading = { status: 'succeeded', result: { ...aSuccess().result, ...links } } as never;
    return found && { ...found, provider: { ...found.provider, read: async () => reading } };
  };
  return {
    ...rest,
    channels: { ...channels, find },
    settings: { ...settings, dangerouslyAllowProviderHosts: [host] },
  };
}

test('a link that the provider refuses is replaced, although its life is not known', async () => {
  const host = await serve((_, response) => response.writeHead(403).end());
  const input = await upstream.input();
  await upstream.attempt(input);
  const deps = depsWith(host, `http://${host}/new.mp4`);
  const copy = store(input.taskId, { url: `http://${host}/old.mp4`, deps });
  await expect(copy).rejects.toMatchObject({ type: 'NotStored' });
  const rows = await database.db('files').where({ task_id: input.taskId });
  expect(rows).toMatchObject([{ source_url: `http://${host}/new.mp4` }]);
});

test('an expired link is replaced before the copy, also if its time is over', async () => {
  const host = await serve((request, response) =>
    request.url === '/new.png' ? response.end(png) : response.writeHead(403).end(),
  );
  const input = await upstream.input();
  await upstream.attempt(input);
  const lastFrame = { role: 'last_frame', url: `http://${host}/old.png` } as const;
  const deps = depsWith(host, `http://${host}/new.png`);
  await expect(store(input.taskId, { ...lastFrame, deps })).rejects.toThrow();
  await database.db.raw(
    `update files set source_url = ?, source_expires_at = now() where task_id = ?`,
    [lastFrame.url, input.taskId],
  );
  const last = store(input.taskId, { ...lastFrame, deps, triedForSeconds: -1 });
  expect(await last).toMatchObject({ stored: true });
});

test('a copy whose time ran out while no worker ran is tried once', async () => {
  const host = await serve((_, response) => response.end(png));
  const { taskId } = await upstream.input();
  const copy = { role: 'last_frame', url: `http://${host}/a.png`, triedForSeconds: -1 } as const;
  expect(await store(taskId, { ...copy, deps: depsWith(host, '') })).toMatchObject({
    stored: true,
  });
});
