// These tests upload a stored video to the address that its caller gave, one attempt at a time.
// They check which faults end the upload, and after which time it is given up.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ApplicationFailure } from '@temporalio/activity';
import { createUploads, type UploadDeps } from '../../activities/results/upload-output';
import { openDirectory } from '../../src/storage/directory';
import { type Storage, StorageError } from '../../src/storage/storage';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';
import { createEvents } from '../../src/worker/activity-events';
import { aTaskId } from '../support/builders';
import { startCallbackSink } from '../support/callback-sink';
import { quietWorker } from '../support/callbacks';
import { type Canaries, startCanaries } from '../support/canaries';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { plantFile } from '../support/files';
import { until } from '../support/until';
import { insertTaskRow } from '../support/upstream';
import { webServers } from '../support/web-servers';

const serve = webServers();

let database: TestDatabase;
let folder: string;
let storage: Storage;
let canaries: Canaries;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'video-files-'));
  storage = await openDirectory(folder);
  canaries = await startCanaries();
});
afterAll(async () => {
  await canaries?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const dead = 'https://192.0.2.1/video.mp4';

async function aVideo(columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { db } = database;
  const taskId = aTaskId();
  await insertTaskRow(db, taskId);
  const object = JSON.stringify({ data: [{ url: 'https://example.com/a.mp4' }] });
  await db('tasks').where({ id: taskId }).update({ status: 'succeeded', object });
  await plantFile({ db, storage, accountId: 'acct_test' }, Buffer.from('the video'), {
    task_id: taskId,
    role: 'video',
    key: `results/${taskId}/video`,
    ...columns,
  });
  return taskId;
}

const upload = (taskId: string, over: Partial<UploadDeps> = {}): Promise<void> => {
  const run = createUploads({
    db: database.db,
    storage,
    events: { outputUpload: () => undefined } as never,
    allowHosts: [],
    uploadsMax: 4,
    ...over,
  });
  return quietWorker().run(run, taskId);
};
const outcomeOf = async (taskId: string) =>
  (await database.db('tasks').where({ id: taskId }).first()).object.output_upload;

test('an upload to an internal address fails without a connection', async () => {
  const before = canaries.connections();
  const taskId = await aVideo({ output_upload_url: `https://127.0.0.1:${canaries.port}/?key=x` });
  await upload(taskId);
  expect(await outcomeOf(taskId)).toEqual({
    status: 'failed',
    error: 'The address is not allowed.',
  });
  expect(canaries.connections()).toBe(before);
});

test('an upload to an address that cannot be reached is repeated at growing intervals for a day', async () => {
  const gone = `127.0.0.1:${canaries.port}`;
  const url = `http://${gone}/video.mp4`;
  const again = async (age: string) => {
    const taskId = await aVideo({
      output_upload_url: url,
      created_at: database.db.raw(`now() - interval '${age}'`),
    });
    const failure = await upload(taskId, { allowHosts: [gone] }).catch(
      (error: ApplicationFailure) => error,
    );
    return { pause: failure?.nextRetryDelay, category: failure?.category, taskId };
  };
  const first = await again('0 seconds');
  expect([first.pause, first.category]).toEqual([2_000, 'BENIGN']);
  expect(await outcomeOf(first.taskId)).toBeUndefined();
  expect((await again('10 minutes')).pause).toBeGreaterThanOrEqual(300_000);
  expect((await again('23 hours')).pause).toBe(3_600_000);
  const last = await again('25 hours');
  expect(last.pause).toBeUndefined();
  expect(await outcomeOf(last.taskId)).toMatchObject({ status: 'failed' });
});

test('nothing is uploaded before the video is stored', async () => {
  const taskId = await aVideo({ output_upload_url: dead, state: 'awaited' });
  await upload(taskId);
  expect(await outcomeOf(taskId)).toBeUndefined();
});

test('an upload is attempted again if reading the video from the storage fails', async () => {
  const receiver = createServer((request) => void request.resume());
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const fault = new StorageError('away', 'The storage is away.');
  const broken = new Readable({ read: () => void broken.destroy(fault) });
  const taskId = await aVideo({ output_upload_url: `http://${host}/video.mp4` });
  const over = { allowHosts: [host], storage: { ...storage, read: async () => broken } };
  await expect(upload(taskId, over)).rejects.toBe(fault);
  expect(await outcomeOf(taskId)).toBeUndefined();
  receiver.closeAllConnections();
  receiver.close();
});

test('the upload of a lost video ends as failed', async () => {
  const removed = { state: 'removed', removed_because: 'lost' };
  const taskId = await aVideo({ output_upload_url: dead, ...removed });
  await upload(taskId);
  expect(await outcomeOf(taskId)).toEqual({
    status: 'failed',
    error: 'The video is not kept any more.',
  });
});

test('an upload stays succeeded if the receiving server later refuses a concurrent upload of the same video', async () => {
  const answers: ((status: number) => void)[] = [];
  const host = await serve((request, response) => {
    request.resume().on('end', () => answers.push((status) => response.writeHead(status).end()));
  });
  const taskId = await aVideo({ output_upload_url: `http://${host}/video.mp4` });
  const late = upload(taskId, { allowHosts: [host] });
  await until('the first call waits for its answer', () => answers.length === 1);
  const second = upload(taskId, { allowHosts: [host] });
  await until('the second call waits for its answer', () => answers.length === 2);
  answers[1]?.(200);
  await second;
  answers[0]?.(403);
  await late;
  expect(await outcomeOf(taskId)).toEqual({ status: 'succeeded' });
});

test('the concurrent uploads of one account are limited, and a further upload waits', async () => {
  let release: (bytes: null) => void = () => undefined;
  const bytes = new Promise<null>((resolve) => {
    release = resolve;
  });
  const run = createUploads({
    db: database.db,
    storage: { ...storage, read: () => bytes },
    events: { outputUpload: () => undefined } as never,
    allowHosts: [],
    uploadsMax: 4,
  });
  const failureOf = async () => {
    const taskId = await aVideo({ output_upload_url: dead });
    return quietWorker()
      .run(run, taskId)
      .catch(({ message }: Error) => message);
  };
  const both = [failureOf(), failureOf()];
  expect(await Promise.race(both)).toBe('Waits for its turn.');
  release(null);
  expect(new Set(await Promise.all(both))).toEqual(
    new Set([
      'The video is not uploaded yet. The storage does not have the video.',
      'Waits for its turn.',
    ]),
  );
});

test('each upload attempt is counted by its result', async () => {
  const meters = createMeters('worker');
  const log = createLogger(
    { level: 'error', format: 'json', name: 'worker' },
    { write: () => undefined },
  );
  const events = createEvents(log, meters).activities;
  const sink = await startCallbackSink();
  const statuses = [200, 403, 503];
  sink.answer = (_, response) => void response.writeHead(statuses.shift() ?? 500).end();
  const gone = `127.0.0.1:${canaries.port}`;
  const hosts = [sink.hostPort, sink.hostPort, sink.hostPort, gone];
  for (const host of [...hosts, 'inside.example:1']) {
    const taskId = await aVideo({ output_upload_url: `http://${host}/video.mp4` });
    await upload(taskId, { events, allowHosts: hosts }).catch(() => undefined);
  }
  await sink.close();
  const counted = await meters.registry
    .getSingleMetric('video_output_upload_attempts_total')
    ?.get();
  expect(counted?.values.map(({ labels, value }) => [labels.result, value])).toEqual([
    ['accepted', 1],
    ['refused', 2],
    ['no_answer', 1],
    ['not_sent', 1],
  ]);
});
