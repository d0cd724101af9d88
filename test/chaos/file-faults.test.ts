// The worker, the API or the S3 server is killed at every step of a copy, an upload and a
// deletion. Afterwards all tasks have ended and were generated and charged once. After one run of the reconciler each stored file has its bytes, and each object has its row.

import { createHash, randomBytes } from 'node:crypto';
import { createS3 } from '../../src/files/storage/s3';
import type { Storage } from '../../src/files/storage/storage';
import { beginnings, expireUploads } from '../support/files';
import { deleteDueFiles } from '../support/owed';
import { type S3Server, startS3Server } from '../support/s3-server';
import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises } from './checker';
import { type Created, finalWithinMs, pause, startTask } from './client';
import { type Link, startLink } from './link';
import { startWorld, type World } from './world';

interface Step {
  readonly name: string;
  readonly of: 'copy' | 'upload' | 'deletion';
  readonly link: 'worker to postgres' | 'worker to storage' | 'api to postgres' | 'api to storage';
  /** A text that only the message of this step contains. */
  readonly containing: string;
}

const firstBytes = (beginnings['video/mp4'] as Buffer).toString('latin1').slice(4, 8);

const steps: readonly Step[] = [
  {
    name: 'the insert of a result row',
    of: 'copy',
    link: 'worker to postgres',
    containing: 'await_results\0',
  },
  {
    name: 'the request head of a copy',
    of: 'copy',
    link: 'worker to storage',
    containing: 'PUT /videos/results/',
  },
  { name: 'the bytes of a copy', of: 'copy', link: 'worker to storage', containing: firstBytes },
  {
    name: 'the update that marks a copy as stored',
    of: 'copy',
    link: 'worker to postgres',
    containing: 'mark_stored\0',
  },
  {
    name: 'the insert of an upload row',
    of: 'upload',
    link: 'api to postgres',
    containing: 'insert into files',
  },
  {
    name: 'the request head of an upload',
    of: 'upload',
    link: 'api to storage',
    containing: 'PUT /videos/uploads/',
  },
  { name: 'the bytes of an upload', of: 'upload', link: 'api to storage', containing: firstBytes },
  {
    name: 'the update that marks an upload as stored',
    of: 'upload',
    link: 'api to postgres',
    containing: "set state = 'stored', length",
  },
  {
    name: 'the update that marks a file as deleted',
    of: 'deletion',
    link: 'api to postgres',
    containing: "removed_because = 'caller'",
  },
  {
    name: 'the request that deletes the bytes',
    of: 'deletion',
    link: 'api to storage',
    containing: 'DELETE /videos/uploads/',
  },
];

type Victim = 'worker' | 'API' | 'storage';
type Moment = 'before' | 'after';
type Kill = readonly [Victim, Moment, Step];

/**
 * The process that sends the message of a step is killed at each step. The storage is also killed
 * at its own steps, and the API at the bytes of a copy.
 */
const fileKills: readonly Kill[] = steps.flatMap((step) => {
  return (['before', 'after'] as const).flatMap((when) => {
    const victims: Victim[] = [step.link.startsWith('worker') ? 'worker' : 'API'];
    if (step.link.endsWith('storage')) victims.push('storage');
    if (step.name === 'the bytes of a copy') victims.push('API');
    return victims.map((victim) => [victim, when, step] as const);
  });
});

interface Upload {
  readonly bytes: Buffer;
  /** The status of the answer to the upload; null if there was no answer. */
  status: number | null;
  id: string | null;
  /** The status of the answer to the deletion: null without an answer, absent without a request. */
  deleted?: number | null;
}

interface FileWorld {
  readonly world: World;
  readonly s3: S3Server;
  readonly links: Readonly<Record<Step['link'], Link>>;
  readonly tasks: Created[];
  readonly uploads: Upload[];
  close(): Promise<void>;
}

/** `each`: the number of tasks or uploads that are in progress at each kill. */
function testFileFaults(kills: readonly Kill[], each: number): void {
  let files: FileWorld;
  const unfinished: Promise<void>[] = [];
  beforeAll(async () => {
    files = await startFileWorld();
  }, 180_000);
  afterAll(() => files?.close());

  test.each(kills.map(([victim, when, step]) => [victim, when, step.name, step] as const))(
    'the %s starts again after a kill %s %s',
    async (victim, when, _, step) => {
      const uploads = step.of === 'deletion' ? await stored(files, each) : [];
      const link = files.links[step.link];
      let killed: Promise<void> | undefined;
      const spring = () => {
        killed ??= kill(files, victim);
      };
      link.set({ containing: [step.containing], when, spring });
      const isOfTasks = step.of === 'copy';
      const work = isOfTasks
        ? startTasks(files, each)
        : Promise.all(
            step.of === 'upload'
              ? Array.from({ length: each }, () => upload(files))
              : uploads.map((one) => remove(files, one)),
          );
      await until('the kill', () => killed !== undefined, 60_000);
      await killed;
      await restart(files, victim);
      if (isOfTasks) unfinished.push(work as Promise<void>);
      else await work;
    },
    180_000,
  );

  test('after all kills, every task has the same end as without a kill, and every stored file has its bytes in the bucket', async () => {
    await Promise.all(unfinished);
    const storage = createS3(files.s3.settings, files.s3.folder);
    await reconcileFiles(files, storage);
    expect(await brokenPromises({ ...files.world, storage }, files.tasks)).toEqual([]);
    expect(await brokenFiles(files, storage)).toEqual([]);
    expect(await files.world.unexplained()).toEqual([]);
  }, 300_000);
}

async function startFileWorld(): Promise<FileWorld> {
  const s3 = await startS3Server();
  const { hostname: host, port } = new URL(s3.settings.endpoint);
  const toStorage = () => startLink(() => ({ host, port: Number(port) }));
  const [worker, api] = [await toStorage(), await toStorage()];
  const settings = ({ address }: Link) => ({
    S3_ENDPOINT: `http://${address}`,
    S3_BUCKET: s3.settings.bucket,
    S3_ACCESS_KEY_ID: s3.settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.settings.secretAccessKey,
  });
  const world = await startWorld({
    sharesServers: true,
    apis: 1,
    workers: 1,
    workerEnvironment: () => settings(worker),
    apiEnvironment: { ...settings(api), CREATE_RATE_PER_SECOND: '10000' },
  });
  const links = {
    ...world.links,
    'worker to storage': worker,
    'api to storage': api,
  };
  return {
    ...{ world, s3, links, tasks: [], uploads: [] },
    async close() {
      await world.close();
      await worker.close();
      await api.close();
      await s3.stop();
    },
  };
}

async function kill({ world, s3 }: FileWorld, victim: Victim): Promise<void> {
  if (victim === 'storage') return s3.kill();
  const part = world.part(partOf[victim]);
  const end = part.exited;
  part.kill('SIGKILL');
  await end;
}

const partOf = { worker: 'worker-1', API: 'api-1' } as const;

async function restart({ world, s3 }: FileWorld, victim: Victim): Promise<void> {
  if (victim === 'storage') await s3.restart();
  else await world.part(partOf[victim]).start();
}

async function startTasks({ world, tasks }: FileWorld, count: number): Promise<void> {
  const started = Array.from({ length: count }, () => startTask(world, { isPlain: true }));
  tasks.push(...started.map(({ entry }) => entry));
  await Promise.all(started.map(({ untilFinal }) => untilFinal(finalWithinMs)));
}

const headers = ({ world }: FileWorld) => ({ authorization: `Bearer ${world.apiKey}` });

async function upload(files: FileWorld): Promise<Upload> {
  const bytes = Buffer.concat([beginnings['video/mp4'] as Buffer, randomBytes(100_000)]);
  const made: Upload = { bytes, status: null, id: null };
  files.uploads.push(made);
  const url = `${files.world.apis[0]}/v1/files`;
  try {
    const reply = await fetch(url, { method: 'POST', headers: headers(files), body: bytes });
    made.id = ((await reply.json()) as { id?: string }).id ?? null;
    made.status = reply.status;
  } catch {
    // The API was killed.
  }
  return made;
}

/** Each upload is repeated until it is stored, because the storage may have just restarted. */
function stored(files: FileWorld, count: number): Promise<readonly Upload[]> {
  const uploadUntilStored = async (): Promise<Upload> => {
    for (;;) {
      const made = await upload(files);
      if (made.status === 200) return made;
      await pause(200);
    }
  };
  return Promise.all(Array.from({ length: count }, uploadUntilStored));
}

async function remove(files: FileWorld, one: Upload): Promise<void> {
  one.deleted = null;
  const url = `${files.world.apis[0]}/v1/files/${one.id}`;
  try {
    const reply = await fetch(url, { method: 'DELETE', headers: headers(files) });
    await reply.text();
    one.deleted = reply.status;
  } catch {
    // The API was killed.
  }
}

/**
 * Runs the reconciler's duty for files until nothing is left, as if the uploads were old, and as if it
 * were time for the deletions that a run of the worker has postponed while the storage was away.
 */
async function reconcileFiles({ world: { db } }: FileWorld, storage: Storage): Promise<void> {
  await expireUploads(db);
  await db.raw(
    `update files set expires_at = now() where state = 'removed' and removed_at is null`,
  );
  while ((await deleteDueFiles({ db, storage })) > 0);
}

interface Row {
  readonly id: string;
  readonly role: string;
  readonly state: string;
  readonly key: string;
  readonly length: number;
  readonly sha256: Buffer;
}

/**
 * Returns a sentence for each row without its bytes, each object without a row, each file that is
 * still awaited, and each lost upload.
 */
async function brokenFiles(files: FileWorld, storage: Storage): Promise<readonly string[]> {
  const rows = await files.world.db<Row>('files').select('*');
  const objects = new Map<string, number>();
  for await (const { key, length } of storage.list('')) objects.set(key, length);
  const kept = rows.filter(({ state }) => state === 'stored');
  const keys = new Set(kept.map(({ key }) => key));
  const results = kept.filter(({ role }) => role === 'video');
  return [
    ...kept
      .filter(({ key, length }) => objects.get(key) !== Number(length))
      .map(({ key }) => `${key} has no bytes`),
    ...[...objects.keys()].filter((key) => !keys.has(key)).map((key) => `${key} has no row`),
    ...rows.filter(({ state }) => state === 'awaited').map(({ id }) => `${id} is still awaited`),
    ...(results.length === files.tasks.length
      ? []
      : [`${results.length} results of ${files.tasks.length} tasks`]),
    ...(await brokenUploads(files, kept)),
  ];
}

/**
 * An upload that was answered with 200 is kept until its deletion is requested. Every kept file is
 * one of the uploads, and is kept once.
 */
async function brokenUploads(files: FileWorld, kept: readonly Row[]): Promise<readonly string[]> {
  const byId = new Map(kept.map((row) => [row.id, row]));
  const broken: string[] = [];
  for (const { id, bytes, status, deleted } of files.uploads) {
    if (status !== 200 || id === null) continue;
    const url = `${files.world.apis[0]}/v1/files/${id}/content`;
    const reply = await fetch(url, { headers: headers(files) });
    const found = Buffer.from(await reply.arrayBuffer());
    if (deleted === undefined && !found.equals(bytes)) {
      broken.push(`${id} is lost: GET answers ${reply.status} with ${found.length} bytes`);
    }
    if (deleted === 200 && reply.status !== 404) broken.push(`${id} is there after its deletion`);
  }
  const digests = new Set(
    files.uploads.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')),
  );
  const uploads = [...byId.values()].filter(({ role }) => role === 'upload');
  const found = uploads.map(({ sha256 }) => sha256.toString('hex'));
  if (new Set(found).size < found.length) broken.push('an upload is there twice');
  if (found.some((digest) => !digests.has(digest))) broken.push('a stored file has other bytes');
  return broken;
}

// Each run has one kill at each step that leaves something behind.
const worst = [
  'worker after the insert of a result row',
  'worker after the bytes of a copy',
  'storage after the request head of a copy',
  'API after the bytes of an upload',
  'API after the update that marks an upload as stored',
  'storage after the request head of an upload',
  'API after the update that marks a file as deleted',
];
const copies = fileKills.filter(([, , { of }]) => of === 'copy').length;

testFileFaults(
  fileKills.filter(([victim, when, { name }]) =>
    sized({ each: worst.includes(`${victim} ${when} ${name}`), long: true }),
  ),
  // In the long run, the copies have at least 200 tasks together.
  sized({ each: 1, long: Math.ceil(200 / copies) }),
);
