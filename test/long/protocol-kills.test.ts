// A worker is killed at each call of each protocol: the call has had its effect, and its answer is
// lost. Every task then ends with one job and the right charge, and the books agree. The outcomes are
// a table in docs/generators.md. After a change, this command writes the table again:
// UPDATE_DOCUMENTS=1 npx jest --selectProjects long -- test/long/protocol-kills

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokenPromises } from '../chaos/checker';
import { type Created, finalWithinMs, pause } from '../chaos/client';
import { startWorld, type World } from '../chaos/world';
import { expectTable } from '../support/document-tables';
import { type Reader, readers, readersFile } from '../support/readers';
import { until } from '../support/until';

/** The text of a message that only this call has; absent if the protocol has no such call. */
interface Calls {
  readonly create: string;
  readonly read: string;
  readonly lookUp?: string;
  readonly cancel?: string;
}

const calls: Readonly<Record<string, Calls>> = {
  'ark-list': {
    create: 'POST /api/v3/contents/generations/tasks',
    read: 'GET /api/v3/contents/generations/tasks?',
    lookUp: 'GET /api/v3/contents/generations/tasks?',
    cancel: 'DELETE /api/v3/contents/generations/tasks/',
  },
  mediakit: {
    create: 'POST /api/v1/tools/enhance-video',
    read: 'GET /api/v1/tasks/',
  },
  minimax: {
    create: 'POST /v2/video_generation',
    read: 'GET /v2/query/video_generation?',
    lookUp: 'filter.task_type=generation',
    cancel: 'DELETE /v2/video_generation/',
  },
  videos: {
    create: 'POST /v1/videos',
    read: 'GET /v1/videos/',
    cancel: 'DELETE /v1/videos/',
  },
  dashscope: {
    create: '/video-synthesis',
    read: 'GET /dashscope/api/v1/tasks/',
    cancel: '/cancel',
  },
  kling: {
    create: 'POST /kling/v1/videos/',
    read: 'GET /kling/v1/videos/',
    lookUp: 'GET /kling/v1/videos/',
  },
};
const columns = ['create', 'read', 'lookUp', 'cancel'] as const;
type Call = (typeof columns)[number];

let world: World;
let folder: string;
const creates: Created[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-protocols-'));
  const file = join(folder, 'catalogue.yaml');
  // A placeholder of the catalogue file.
  const studio = '\u0024{STUDIO_URL}';
  await writeFile(
    file,
    readersFile(() => studio, { honoursIdempotencyKey: false }),
  );
  world = await startWorld({
    ...{ apis: 1, workers: 1, environment: { CATALOGUE_FILE: file } },
    workerEnvironment: (_, key) => ({ KEY_PAIR: `access:${key}` }),
  });
}, 240_000);
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const rows = Object.keys(calls).map(
  (channel) => readers.find((reader) => reader.channel === channel)!,
);

test('no kill of a worker at a call makes two jobs or a wrong charge', async () => {
  const outcomes: string[][] = [];
  for (const reader of rows) {
    const outcomesOfRow: string[] = [];
    for (const call of columns) outcomesOfRow.push(await outcomeOf(reader, call));
    outcomes.push(outcomesOfRow);
  }
  expect(await brokenPromises(world, creates)).toEqual([]);
  const titles = ['create', 'read', 'look-up', 'cancel'];
  expectTable('docs/generators.md', 'worker kills', [
    ['protocol', ...titles],
    ...rows.map(({ protocol }, at) => [`\`${protocol}\``, ...(outcomes[at] ?? [])]),
  ]);
}, 1_800_000);

async function outcomeOf(reader: Reader, call: Call): Promise<string> {
  const text = calls[reader.channel]?.[call];
  if (text === undefined) return '';
  await script({
    ...(call === 'lookUp' ? { create: { lose_reply: true, times: 1 } } : {}),
    ...(call === 'cancel' ? { queue_s: 600 } : { run_s: 2 }),
  });
  const worker = world.stack.part('worker-1');
  const end = worker.exited;
  const link = world.links['worker to studio'];
  const trap = () => {
    link.set({ containing: [text], when: 'after', spring: () => worker.kill('SIGKILL') });
  };
  if (call !== 'cancel') trap();
  const taskId = await created(reader);
  if (call === 'cancel') {
    await jobIsOpen(taskId);
    trap();
    await ask('DELETE', `/${taskId}`);
  }
  await end;
  expect([reader.channel, call, link.fired]).toEqual([reader.channel, call, 1]);
  await worker.start();
  return chargeOf(await ended(taskId));
}

async function created(reader: Reader): Promise<string> {
  const { request, model } = reader;
  const { id } = await ask('POST', '', {
    ...{ model, prompt: `prompt ${creates.length}`, ratio: '16:9', ...request },
  });
  creates.push({
    ...{ key: id, callback: false, outcome: 'ok' as const, id, seen: [] },
  });
  return id;
}

async function ended(taskId: string) {
  const last = Date.now() + finalWithinMs;
  for (;;) {
    const task = await ask('GET', `/${taskId}`);
    if (task.status === 'succeeded' || task.status === 'failed') return task;
    if (Date.now() > last) throw new Error(`Not final: ${JSON.stringify(task)}`);
    // A lost create becomes old faster: first its list is settled, later it cannot be found out.
    await world.db.raw(
      `update jobs set sent_at = sent_at - interval '20 seconds',
              searched_since = searched_since - interval '20 seconds'
        where task_id = ? and state = 'sending' and upstream_id is null`,
      [taskId],
    );
    await pause(1_000);
  }
}

function chargeOf({ status, billing }: Reply): string {
  if (status === 'succeeded') return 'charged';
  expect(billing?.charged).toBe('0.000000');
  return 'refunded';
}

async function jobIsOpen(taskId: string): Promise<void> {
  await until('the job is open', async () => {
    const { rows } = await world.db.raw<{ rows: unknown[] }>(
      `select from jobs where task_id = ? and state = 'open'`,
      [taskId],
    );
    return rows.length > 0;
  });
}

async function script(fields: object): Promise<void> {
  const { studioUrl, studioApiKey } = world.stack.addresses;
  const reply = await fetch(`${studioUrl}/admin/script`, {
    method: 'POST',
    headers: { authorization: `Bearer ${studioApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ render: 'none', ...fields, enhance: { render: 'none', run_s: 2 } }),
  });
  expect(reply.status).toBe(200);
}

interface Reply {
  readonly id: string;
  readonly status: string;
  readonly billing?: { readonly charged: string };
}

async function ask(method: string, path: string, body?: object): Promise<Reply> {
  const reply = await fetch(`${world.apis[0]}/v1/videos/generations${path}`, {
    method,
    headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return JSON.parse(text) as Reply;
}
