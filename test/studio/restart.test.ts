// Tests the studio as a process that is killed with SIGKILL. Its earlier answers are still true
// after the restart, and running jobs continue.

import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  aDataDir,
  type DataDir,
  endAllProcesses,
  type RunningProcess,
  startProcess,
} from '../support/processes';
import { until } from '../support/until';
import { apiKey, type Client, clientOf, image, text } from './open-studio';

let data: DataDir;
let running: RunningProcess;
let studio: Client;

beforeEach(async () => {
  data = await aDataDir();
  await start();
});
afterEach(async () => {
  await endAllProcesses();
  await data.remove();
});

const never = 1_000_000;
const scripted = (script: object) => ({ studio: { render: 'none', ...script } });

test('after kill -9 every job has its previous status, and an interrupted rendering is repeated', async () => {
  const picture = await fetch(studio.sample('forest.jpg'));
  const inline = Buffer.from(await picture.arrayBuffer()).toString('base64');
  const ids = {
    queued: await studio.accepted(scripted({ queue_s: never })),
    running: await studio.accepted(scripted({ run_s: never }), { 'idempotency-key': 'mine' }),
    succeeded: await studio.accepted({}),
    failed: await studio.accepted(scripted({ end: 'failed', code: 'Scripted' })),
    cancelled: await studio.accepted(scripted({ queue_s: never })),
    deleted: await studio.accepted({}),
  };
  const { json: enhancement } = await studio.enhance({ client_token: 'mine' });
  const done = await studio.reaching(ids.succeeded, 'succeeded');
  await studio.reaching(ids.failed, 'failed');
  await studio.reaching(ids.deleted, 'succeeded');
  await studio.remove(ids.cancelled);
  await studio.remove(ids.deleted);
  const rendering = await studio.accepted({
    ...{ studio: {}, duration: 4, resolution: '480p' },
    content: [text('killed'), image(`data:image/jpeg;base64,${inline}`)],
  });
  await studio.reaching(rendering, 'running');
  const before = await studio.list('page_size=100');

  await killAndStart();

  const status = async (id: string) => (await studio.get(id)).json.status;
  expect(await status(ids.queued)).toBe('queued');
  expect(await status(ids.running)).toBe('running');
  expect(await status(ids.cancelled)).toBe('cancelled');
  expect((await studio.get(ids.failed)).json.error.code).toBe('Scripted');
  expect((await studio.get(ids.deleted)).status).toBe(404);
  const after = await studio.list('page_size=100');
  const idsOf = ({ json }: typeof after) => json.items.map(({ id }: { id: string }) => id);
  expect(idsOf(after)).toEqual(idsOf(before));
  // Earlier links still work, although the studio may have another port now.
  const { pathname, search } = new URL(done.content.video_url);
  expect((await fetch(`${studio.url}${pathname}${search}`)).status).toBe(200);
  expect(await studio.accepted({}, { 'idempotency-key': 'mine' })).toBe(ids.running);
  expect((await studio.enhance({ client_token: 'mine' })).json.task_id).toBe(enhancement.task_id);
  const { content } = await studio.reaching(rendering, 'succeeded', 50_000);
  const film = Buffer.from(await (await fetch(content.video_url)).arrayBuffer());
  expect(film.length).toBeGreaterThan(20_000);
});

test('after kill -9 every answered create has its job, and each idempotency key has exactly one job', async () => {
  const sent: string[] = [];
  const answered: string[] = [];
  const untilCut = async () => {
    for (;;) {
      const key = `key-${sent.length}`;
      sent.push(key);
      answered.push(await studio.accepted({}, { 'idempotency-key': key }));
      if (answered.length === 40) running.signal('SIGKILL');
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, untilCut));
  expect(answered.length).toBeGreaterThanOrEqual(40);

  await killAndStart();

  const again = await Promise.all(
    sent.map((key) => studio.accepted({}, { 'idempotency-key': key })),
  );
  expect(again).toEqual(expect.arrayContaining(answered));
  const { json } = await studio.call('GET', '/admin/accepted?kind=generation');
  expect(json.total).toBe(sent.length);
});

test('an incomplete last line of the journal is skipped, and the next entry is kept', async () => {
  const kept = await studio.accepted(scripted({ run_s: never }));
  running.signal('SIGKILL');
  await running.ended;
  await appendFile(join(data.path, 'studio/journal.jsonl'), '{"put":{"id":"cgt-half');
  await start();
  const next = await studio.accepted(scripted({ run_s: never }));
  await killAndStart();
  expect((await studio.list('')).json.items.map(({ id }: { id: string }) => id)).toEqual([
    next,
    kept,
  ]);
});

test('a second studio on the same folder is refused, and the first loses no job', async () => {
  const settings = { STUDIO_PORT: '0', STUDIO_API_KEY: apiKey, DATA_DIR: data.path };
  const second = startProcess(['studio'], settings);
  await until('the second has ended or listens', () => {
    return second.hasEnded() || second.said().includes('"url"');
  });
  const id = await studio.accepted(scripted({ run_s: never }));
  await killAndStart();
  expect((await studio.get(id)).status).toBe(200);
  expect(second.said()).toMatch(/already \(process \d+\)/);
});

async function start(): Promise<void> {
  running = startProcess(['studio'], {
    STUDIO_PORT: '0',
    STUDIO_API_KEY: apiKey,
    DATA_DIR: data.path,
  });
  const url = () => /"url":"([^"]+)"/.exec(running.said())?.[1];
  await until('the studio listens', () => {
    if (running.hasEnded()) throw new Error(running.said());
    return url() !== undefined;
  });
  studio = clientOf(url() ?? '');
}

async function killAndStart(): Promise<void> {
  running.signal('SIGKILL');
  await running.ended;
  await start();
}
