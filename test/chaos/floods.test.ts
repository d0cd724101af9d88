// Sends more load than the service can serve: a flood of creates, senders that send a byte at a
// time, and a flood while Temporal is stopped. Other callers are served, no accepted task is lost,
// and nothing is charged wrongly.

import { connect, type Socket } from 'node:net';
import { median } from '../../bench/support/rounds';
import { textTask } from '../support/service';
import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises } from './checker';
import { type Created, pause, unknownIdOf } from './client';
import { startWorld, type World } from './world';

interface FloodSize {
  readonly creates: number;
  /** The creates are spread over this time; if absent, all are sent at once. */
  readonly overMs?: number;
  readonly drippers: number;
}

// The server's limits are 10 s for headers and 15 s for a request. A busy machine gets four times
// as long.
const cutWithinMs = 4 * 15_000;

// Reads do not wait behind the flood: many of them are answered while it lasts.
const readsMin = 5;

const ends = { status: 'succeeded', enhancements: 0 } as const;

function testFloods({ creates, overMs = 0, drippers }: FloodSize): void {
  let world: World;
  const entries: Created[] = [];
  const flood = (size: number) => Array.from({ length: size }, () => post(world));
  const judged = async (made: readonly Made[]) => {
    for (const { outcome, id } of made) {
      entries.push({ key: '', callback: false, ends, outcome, id, seen: [] });
    }
    await until('all accepted are final', async () => (await unfinished(world)) === 0, 120_000);
    return brokenPromises(world, entries);
  };
  beforeAll(async () => {
    world = await startWorld({
      apis: 1,
      workers: 1,
      environment: { CREATE_RATE_PER_SECOND: '3' },
    });
  }, 120_000);
  afterAll(() => world?.close());

  test(
    `${creates} creates within ${overMs} ms are each accepted or refused with Retry-After`,
    async () => {
      const { id } = await post(world);
      const quiet = await readsUntil(world, String(id), pause(2_000));
      const posts = Array.from({ length: creates }, async (_, n) => {
        await pause((n * overMs) / creates);
        return post(world);
      });
      const busy = await readsUntil(world, String(id), Promise.all(posts));
      const made = await Promise.all(posts);
      entries.push({ key: '', callback: false, ends, outcome: 'ok', id, seen: [] });
      process.stdout.write(
        `${tally(made)}; ${busy.count} GETs take ${busy.ms} ms, ${quiet.ms} ms when it is quiet\n`,
      );
      expect(busy.count).toBeGreaterThanOrEqual(readsMin);
      const statuses = new Set(made.map(({ status }) => status));
      for (const status of statuses) expect([200, 429, 503]).toContain(status);
      expect(statuses).toContain(200);
      expect(statuses).toContain(429);
      const unhelpful = made.filter(({ status, retryAfter }) => status !== 200 && !retryAfter);
      expect(unhelpful).toEqual([]);
      expect(await judged(made)).toEqual([]);
    },
    240_000 + 50 * creates,
  );

  test(`${drippers} slow senders are disconnected, while other callers are served`, async () => {
    const slow = Array.from({ length: drippers }, () => drip(world));
    let served = 0;
    let cut = 0;
    for (const { ended } of slow) void ended.then(() => (cut += 1));
    const headers = { authorization: `Bearer ${world.apiKey}` };
    const end = Date.now() + cutWithinMs;
    while (cut < drippers && Date.now() < end) {
      const reply = await fetch(`${world.apis[0]}/v1/account`, { headers });
      if (reply.status === 200) served += 1;
      await pause(50);
    }
    expect(cut).toBe(drippers);
    expect(served).toBeGreaterThan(20);
    for (const { said } of slow) expect(['', 'HTTP/1.1 408']).toContain(said().slice(0, 12));
  }, 120_000);

  test('while Temporal is stopped, every create is answered 200 or 429, and every accepted task ends afterwards', async () => {
    const temporal = world.stack.part('temporal');
    let answered = 0;
    const before = flood(20).map((made) => made.finally(() => (answered += 1)));
    await until('some are answered', () => answered >= 5);
    temporal.kill('SIGSTOP');
    const made = await Promise.all([...before, ...flood(5)]);
    await pause(3_000);
    temporal.kill('SIGCONT');
    for (const { status } of made) expect([200, 429]).toContain(status);
    expect(await judged(made)).toEqual([]);
  }, 240_000);
}

interface Made {
  readonly status: number;
  readonly retryAfter: boolean;
  readonly outcome: Created['outcome'];
  readonly id: string | null;
}

async function post(world: World): Promise<Made> {
  const reply = await fetch(`${world.apis[0]}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(textTask()),
  });
  const { status, headers } = reply;
  const text = await reply.text();
  const { id = null } = JSON.parse(text) as { id?: string };
  // If the answer of the database is lost, the API does not know whether the task exists. It then
  // answers 503 with the address of the task.
  const outcome = status === 200 ? 'ok' : unknownIdOf(reply) ? 'unknown' : 'refused';
  return { status, retryAfter: headers.has('retry-after'), outcome, id };
}

function tally(made: readonly Made[]): string {
  const counts = new Map<number, number>();
  for (const { status } of made) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} creates answered ${status}`).join(', ');
}

/**
 * The number of GETs that are answered before `done` resolves, and their median time. Each must be
 * answered.
 */
async function readsUntil(world: World, id: string, done: Promise<unknown>) {
  let isDone = false;
  const end = done.then(() => {
    isDone = true;
  });
  const took: number[] = [];
  const headers = { authorization: `Bearer ${world.apiKey}` };
  while (!isDone) {
    const asked = performance.now();
    const reply = await fetch(`${world.apis[0]}/v1/videos/generations/${id}`, { headers });
    await reply.text();
    expect(reply.status).toBe(200);
    took.push(performance.now() - asked);
    await pause(20);
  }
  await end;
  return { count: took.length, ms: Math.round(median(took)) };
}

async function unfinished({ db }: World): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    'select count(*)::int as count from tasks where finished_at is null',
  );
  return rows[0]?.count ?? 0;
}

/** A sender that never completes its request. */
function drip(world: World): { ended: Promise<void>; said(): string } {
  const { hostname, port } = new URL(world.apis[0] ?? '');
  const socket: Socket = connect(Number(port), hostname);
  let said = '';
  socket.on('data', (bytes) => {
    said += bytes.toString();
  });
  socket.on('error', () => undefined);
  socket.write('POST /v1/videos/generations HTTP/1.1\r\nHost: api\r\nContent-Length: 1000\r\n');
  const dripping = setInterval(() => socket.write('x'), 500);
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => {
      clearInterval(dripping);
      resolve();
    });
  });
  return { ended, said: () => said };
}

testFloods(
  sized<FloodSize>({
    each: { creates: 150, drippers: 100 },
    long: { creates: 8_000, overMs: 20_000, drippers: 500 },
  }),
);
