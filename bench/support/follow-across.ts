// Reads the same live tasks through two API processes. Each answer is compared with all earlier
// answers of both processes, and with the rows as they were one second before the read.

import { isRunning } from '../../src/tasks/tasks.rows';
import type { Account, World } from '../world';
import { openWire, type Reply } from './http-load';
import { anotherApi } from './more-processes';
import { pause } from './process-figures';
import { readText } from './tasks';

interface Seen {
  readonly step: number;
  readonly atMs: number;
}

const steps: Readonly<Record<string, number>> = {
  pending: 0,
  submitted: 1,
  running: 2,
  succeeded: 9,
};
const staleMs = 1_000;

/**
 * Reads until both processes have shown the end of every task, and returns the number of reads.
 * Throws if an answer shows an earlier step than a previous answer, or is too old.
 */
export async function followAcross(
  world: World,
  account: Account,
  ids: readonly string[],
): Promise<number> {
  const second = await anotherApi(world, 'api-2');
  try {
    const stored = followRows(world, ids);
    const judge = judgeBy(stored.seen);
    try {
      const [first, other] = await Promise.all([
        readUntilAllEnded(world.apiUrl, account, ids, judge),
        readUntilAllEnded(second.url, account, ids, judge),
        runAndFinish(world, ids),
      ]);
      return first + other;
    } finally {
      await stored.stop();
    }
  } finally {
    await second.stop();
  }
}

/** Records when each step was first found in a row. */
function followRows(world: World, ids: readonly string[]) {
  const seen = new Map<string, Seen>();
  let over = false;
  const following = (async () => {
    while (!over) {
      for (const [id, step] of await storedSteps(world, ids)) keepHighest(seen, id, step);
      await pause(50);
    }
  })();
  return {
    seen: seen as ReadonlyMap<string, Seen>,
    async stop() {
      over = true;
      await following;
    },
  };
}

function keepHighest(seen: Map<string, Seen>, id: string, step: number): void {
  if (step > (seen.get(id)?.step ?? 0)) seen.set(id, { step, atMs: Date.now() });
}

/**
 * Called before a read is sent. The returned function checks the answer, and returns true if the
 * answer shows the end of the task.
 */
type Judge = (id: string) => (reply: Reply) => boolean;

/**
 * Throws if an answer shows an earlier step than the answers that arrived before the read was sent.
 * Also throws if the answer shows an earlier step than the row one second before the read.
 */
function judgeBy(stored: ReadonlyMap<string, Seen>): Judge {
  const seen = new Map<string, Seen>();
  return (id) => {
    const before = seen.get(id)?.step ?? 0;
    const row = stored.get(id);
    const sentAt = Date.now();
    return ({ status: code, body }) => {
      const { status } = JSON.parse(body) as { status: string };
      const step = steps[status] ?? 0;
      if (code !== 200 || step === 0) throw new Error(`GET answered ${body}`);
      if (step < before) throw new Error(`${id} stepped back from ${before} to ${step}.`);
      if (row && step < row.step && sentAt > row.atMs + staleMs) {
        throw new Error(`${id} was shown as it was more than a second ago.`);
      }
      keepHighest(seen, id, step);
      return status === 'succeeded';
    };
  };
}

async function readUntilAllEnded(
  url: string,
  account: Account,
  ids: readonly string[],
  judge: Judge,
): Promise<number> {
  const { hostname, port } = new URL(url);
  const wire = await openWire(hostname, Number(port));
  try {
    const ended = new Set<string>();
    let reads = 0;
    while (ended.size < ids.length) {
      for (const id of ids) {
        const isEnd = judge(id);
        if (isEnd(await wire.exchange(readText(account, id)))) ended.add(id);
        reads += 1;
      }
      await pause(20);
    }
    return reads;
  } finally {
    wire.close();
  }
}

async function runAndFinish({ generator, settings }: World, ids: readonly string[]): Promise<void> {
  await generator.run(ids);
  await pause(settings.quick ? 3_500 : 6_000);
  await generator.finish(ids);
}

async function storedSteps(
  { pool }: World,
  ids: readonly string[],
): Promise<readonly (readonly [string, number])[]> {
  const { rows } = await pool.query<{ id: string; status: string }>(
    `select id, case when state = 'ended' then status when state = 'pending' then 'pending'
                     when ${isRunning} then 'running' else 'submitted' end as status
       from tasks where id = any($1)`,
    [ids],
  );
  return rows.map(({ id, status }) => [id, steps[status] ?? 0] as const);
}
