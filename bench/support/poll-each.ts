// Polls each of many live tasks at the recommended interval, while jobs start and end. Every client
// must see every status of its task, in order.

import type { Account, World } from '../world';
import { openWire } from './http-load';
import { pause } from './process-figures';
import { readText } from './tasks';

interface Polled {
  /** The sorted times of the polls in milliseconds. */
  readonly latencies: readonly number[];
  readonly changes: number;
  /** The ids of the tasks that finished during the run. */
  readonly ended: readonly string[];
}

const order = ['submitted', 'running', 'succeeded'];
// The clients share these connections. Thousands of sockets would need processor time themselves.
const connections = 50;
// A client sees a new status after at most one round of the watcher and one poll of the client,
// about six seconds. With this longer time, the client sees each status before the next status
// begins.
const betweenStatesMs = 9_000;

export async function pollEach(
  world: World,
  account: Account,
  ids: readonly string[],
  { everyMs, seconds }: { everyMs: number; seconds: number },
): Promise<Polled> {
  const seen = new Map<string, string>(ids.map((id) => [id, 'submitted']));
  const latencies: number[] = [];
  let changes = 0;
  const check = (id: string, body: string, status: number): void => {
    const before = seen.get(id) ?? '';
    const now = (JSON.parse(body) as { status: string }).status;
    const step = order.indexOf(now) - order.indexOf(before);
    if (status !== 200 || step < 0 || step > 1) {
      throw new Error(`${id} went from ${before} to ${now} (${status}): ${body}`);
    }
    if (step === 1) changes += 1;
    seen.set(id, now);
  };
  const started = performance.now();
  const client = async (connection: number): Promise<void> => {
    const { hostname, port } = new URL(world.apiUrl);
    const wire = await openWire(hostname, Number(port));
    const mine = ids.filter((_, index) => index % connections === connection);
    try {
      for (let round = 0; round * everyMs < seconds * 1_000; round += 1) {
        for (const [position, id] of mine.entries()) {
          const due = started + round * everyMs + (position * everyMs) / mine.length;
          const early = due - performance.now();
          if (early > 1) await pause(early);
          const sent = performance.now();
          const reply = await wire.exchange(readText(account, id));
          latencies.push(performance.now() - sent);
          check(id, reply.body, reply.status);
        }
      }
    } finally {
      wire.close();
    }
  };
  const begun = beginAndEnd(world, ids, seconds * 1_000);
  await Promise.all(
    Array.from({ length: Math.min(connections, ids.length) }, (_, at) => client(at)),
  );
  const { ran, ended } = await begun;
  const missed =
    ran.filter((id) => seen.get(id) === 'submitted').length +
    ended.filter((id) => seen.get(id) !== 'succeeded').length;
  if (missed > 0) throw new Error(`${missed} changes were never shown to their clients.`);
  return { latencies: latencies.sort((a, b) => a - b), changes, ended };
}

/**
 * Starts a fifth of the jobs, one after the other, and ends a quarter of the started jobs. The last
 * job ends early enough for its client to see the end.
 */
async function beginAndEnd(
  { generator }: World,
  ids: readonly string[],
  durationMs: number,
): Promise<{ ran: readonly string[]; ended: readonly string[] }> {
  const ran = ids.slice(0, Math.ceil(ids.length / 5));
  const ended = ran.slice(0, Math.ceil(ran.length / 4));
  const stepMs = Math.max(200, durationMs / 60);
  const steps = Math.max(1, Math.floor((durationMs - 2 * betweenStatesMs) / stepMs));
  const part = (all: readonly string[], step: number) =>
    all.slice(
      Math.floor((all.length * step) / steps),
      Math.floor((all.length * (step + 1)) / steps),
    );
  const begin = async () => {
    for (let step = 0; step < steps; step += 1) {
      await generator.run(part(ran, step));
      await pause(stepMs);
    }
  };
  const end = async () => {
    await pause(betweenStatesMs);
    // The jobs that end are those that started first. Ending them takes as long as starting all
    // jobs, so each job runs for at least `betweenStatesMs` before its end.
    for (let step = 0; step < steps; step += 1) {
      await generator.finish(part(ended, step));
      await pause(stepMs);
    }
  };
  await Promise.all([begin(), end()]);
  return { ran, ended };
}
