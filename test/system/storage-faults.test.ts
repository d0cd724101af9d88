// Tests faults of the storage that an operator has to repair: a full disk, a missing folder or
// bucket, a wrong key. The log and the metrics name the fault. Until the repair, tasks wait and
// uploads are refused. After the repair both succeed, and nothing is generated or charged twice.

import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observedStorage } from '../../src/commands/observed-storage';
import { openDirectory } from '../../src/files/storage/directory';
import { createS3 } from '../../src/files/storage/s3';
import { type Storage, StorageError, type StorageFault } from '../../src/files/storage/storage';
import { audit } from '../../src/money/audit.rows';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';
import { acceptedJobs } from '../support/accepted-jobs';
import { expireUploads, mp4 } from '../support/files';
import { deleteDueFiles } from '../support/owed';
import { type S3Server, startS3Server } from '../support/s3-server';
import { type Service, startService, textTask } from '../support/service';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk';
import { until } from '../support/until';

/** The storage of the service at this moment. */
let current: Storage;
const switched: Storage = {
  write: (...call) => current.write(...call),
  read: (...call) => current.read(...call),
  remove: (...call) => current.remove(...call),
  list: (...call) => current.list(...call),
  presigned: (...call) => current.presigned(...call),
};

const meters = createMeters('worker');
let lines: { event: string; fault: string }[] = [];
const log = createLogger(
  { level: 'info', format: 'json', name: 'worker' },
  { write: (line: string) => void lines.push(JSON.parse(line)) },
);

let service: Service;
let s3: S3Server;
let folder: string;
let disk: SmallDisk | null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-storage-'));
  disk = await mountSmallDisk(1, 'a full disk of the storage');
  s3 = await startS3Server();
  service = await startService({ storage: () => observedStorage(switched, meters, log) });
});
afterAll(async () => {
  await service?.close();
  await s3?.stop();
  await disk?.remove();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  lines = [];
  meters.registry.resetMetrics();
});

/** Breaks the storage and returns the repair. Null if this machine cannot mount a small disk. */
type Break = () => Promise<(() => unknown) | null>;

async function fillDisk() {
  if (!disk) return null;
  current = await openDirectory(disk.folder);
  disk.leaveFree(0);
  return disk.empty;
}

async function fillDiskBeforeBucket() {
  if (!disk) return null;
  current = createS3(s3.settings, disk.folder);
  disk.leaveFree(0);
  return disk.empty;
}

async function moveFolder() {
  const path = join(folder, 'files');
  current = await openDirectory(path);
  await rename(path, `${path}-elsewhere`);
  return () => rename(`${path}-elsewhere`, path);
}

async function useWrongKey() {
  current = createS3({ ...s3.settings, secretAccessKey: 'another-secret' }, folder);
  // The repair acts like a restart with the right settings.
  return () => {
    current = createS3(s3.settings, folder);
  };
}

async function removeBucket() {
  const settings = { ...s3.settings, bucket: 'vanishing' };
  current = createS3(settings, folder);
  return () => s3.createBucket(settings.bucket);
}

const faultsInMetrics = async () => {
  const metric = await meters.registry.getSingleMetric('video_storage_failures_total')?.get();
  const failed = metric?.values.filter(({ value }) => value > 0) ?? [];
  return failed.map(({ labels }) => labels.fault);
};

const faultsInLog = () =>
  new Set(lines.filter(({ event }) => event === 'storage_failed').map(({ fault }) => fault));

async function upload() {
  const reply = await fetch(`${service.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: mp4(4),
  });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

async function expectRefused(fault: StorageFault): Promise<void> {
  const refused = await upload();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  expect(refused.text).toContain('"unavailable"');
  expect(service.failures.splice(0)).toEqual([expect.any(StorageError)]);
  expect([...faultsInLog()]).toEqual([fault]);
  expect(await faultsInMetrics()).toEqual([fault]);
}

test.each<[string, StorageFault, Break]>([
  ['a full disk', 'full', fillDisk],
  ['a missing folder', 'no bucket', moveFolder],
  ['a wrong key', 'denied', useWrongKey],
  ['a missing bucket', 'no bucket', removeBucket],
])(
  '%s is reported as the storage fault "%s", and tasks wait until the repair and then succeed',
  async (_, fault, breakIt) => {
    const mend = await breakIt();
    if (!mend) return;
    const { db } = service;
    const { json } = await service.create(textTask());
    const tries = () =>
      service.events.filter(({ name, args }) => name === 'resultNotStored' && args[0] === json.id);
    await until('two tries have failed', () => tries().length > 1);
    for (const { args } of tries()) {
      expect(args).toEqual([json.id, 'video', 'failed', `The storage: ${fault}.`]);
    }
    const waiting = await service.call('GET', `/v1/videos/generations/${json.id}`);
    expect(waiting.json).toMatchObject({ status: 'running', stage: 'storing' });
    await expectRefused(fault);

    await mend();
    const task = await service.finished(json.id);
    expect(task).toMatchObject({ status: 'succeeded', billing: { charged: '5.009400' } });
    const kinds = await db('transfers').where({ task_id: json.id }).orderBy('id').pluck('kind');
    expect(kinds.filter((kind) => kind !== 'refund')).toEqual(['hold', 'settle']);
    const video = await fetch(task.video_url);
    expect([video.status, video.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await video.arrayBuffer();
    expect(await acceptedJobs(service, json.id)).toBe(1);

    expect((await upload()).status).toBe(200);
    await expireUploads(db);
    await deleteDueFiles({ db, storage: current });
    expect(await db('files').where({ state: 'awaited' })).toEqual([]);
    expect((await audit(db)).differences).toEqual([]);
  },
);

test('if the disk for the temporary files of a bucket is full, an upload is refused with the storage fault "full", and succeeds after the repair', async () => {
  const mend = await fillDiskBeforeBucket();
  if (!mend) return;
  await expectRefused('full');
  mend();
  expect((await upload()).status).toBe(200);
});
