// Compares GET of live tasks with workflow queries to Temporal. Fifty clients each poll a task of
// their own as fast as possible. Then one client reads so seldom that the workflow answers each
// read, and once more beside sixteen creates in flight. At last the tasks are read through two API
// processes while they run. After one process has shown a state, neither process may show a previous state. No
// answer may be older than a second.

import { setTimeout } from 'node:timers/promises';
import { atLeast, atMost, type Finding, type Row } from '../row';
import { followAcross } from '../support/follow-across';
import { openWire, runLoad } from '../support/http-load';
import { alternate, compare, median } from '../support/rounds';
import { createTasks, readText, startBareTasks, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

const clients = 50;

export const liveRow: Row = {
  name: 'live',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const account = await world.anAccount();
    const run = { model: models.parked, count: clients, inFlight: 16 };
    const { ids } = await createTasks(world, account, run);
    await untilCount(world, ids, 'placed', 60_000);
    const { ids: bareIds } = await startBareTasks(world, { ...run, kind: 'parked' });
    const texts = ids.map((id) => readText(account, id));
    const seconds = quick ? 1 : 2;
    const best = await bestConcurrency(world, bareIds);
    const found = await alternate(
      rounds,
      () => poll(world, texts, seconds),
      () => queries(world, bareIds, best, seconds),
    );
    const alone = await alternate(
      rounds,
      () => seldomReads(world, texts, quick ? 15 : 45),
      () => seldomQueries(world, bareIds, quick ? 15 : 45),
    );
    const creates = await creatingBeside(world, account, texts);
    const reads = await followAcross(world, account, ids);
    await untilCount(world, ids, 'finished', 120_000);
    await world.bare.end(bareIds);
    return [
      atLeast(
        'GET of live tasks, 50 connections',
        '/s',
        compare(found),
        20,
        `bare queries at ${best} in flight, the fastest of ${concurrencies.join(', ')}`,
      ),
      atMost('GET of a live task alone, answered by its workflow, p50', 'ms', compare(alone), 1.2),
      atLeast(
        'POST, 16 in flight, beside GETs that workflows answer',
        '/s',
        compare(creates),
        0.95,
        'compared with the same creates without the reads',
      ),
      {
        figure: 'GET through two APIs while tasks go on: steps back, or older than 1 s',
        unit: `of ${reads}`,
        ours: '0',
        wanted: '0',
        met: true,
      },
    ];
  },
};

async function poll(world: World, texts: readonly string[], seconds: number): Promise<number> {
  const { perSecond } = await runLoad({
    url: world.apiUrl,
    connections: clients,
    until: { seconds },
    request: (_index, connection) => texts[connection] ?? '',
    check: ({ status, body }) => {
      if (status !== 200 || !body.includes('"submitted"')) {
        throw new Error(`GET of a waiting task was answered with ${status}: ${body}`);
      }
    },
  });
  return perSecond;
}

// Slower than the budget of an API process, so that the workflow can answer every read.
const seldomMs = 70;

/** The p50 of reads that come so seldom that the workflow answers them. */
async function seldomReads(world: World, texts: readonly string[], count: number): Promise<number> {
  const { hostname, port } = new URL(world.apiUrl);
  const wire = await openWire(hostname, Number(port));
  let byRow = 0;
  const p50 = await seldom(count, async (at) => {
    const { status, head } = await wire.exchange(texts[at % texts.length] ?? '');
    if (status !== 200) throw new Error(`GET of a live task was answered with ${status}.`);
    if (!/x-answered-by: workflow/i.test(head)) byRow += 1;
  }).finally(() => wire.close());
  if (byRow > count / 10) throw new Error(`The row answered ${byRow} of ${count} seldom reads.`);
  return p50;
}

function seldomQueries({ bare }: World, ids: readonly string[], count: number): Promise<number> {
  return seldom(count, (at) => bare.query(ids[at % ids.length] ?? ''));
}

async function seldom(count: number, call: (at: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    await call(at);
    times.push(performance.now() - began);
    await setTimeout(seldomMs);
  }
  return median(times);
}

/** The creates a second while a client reads live tasks, and without that client. */
async function creatingBeside(world: World, account: Account, texts: readonly string[]) {
  const run = { model: models.parked, count: world.settings.quick ? 48 : 96, inFlight: 16 };
  const created: string[] = [];
  const creates = async () => {
    const { ids, perSecond } = await createTasks(world, account, run);
    created.push(...ids);
    await untilCount(world, ids, 'placed', 60_000);
    return perSecond;
  };
  const beside = async () => {
    const { hostname, port } = new URL(world.apiUrl);
    const wire = await openWire(hostname, Number(port));
    let isOver = false;
    const reading = (async () => {
      for (let at = 0; !isOver; at += 1) {
        await wire.exchange(texts[at % texts.length] ?? '');
        await setTimeout(seldomMs);
      }
    })();
    try {
      return await creates();
    } finally {
      isOver = true;
      await reading.finally(() => wire.close());
    }
  };
  const found = await alternate(world.settings.rounds, beside, creates);
  await world.generator.finish(created);
  await untilCount(world, created, 'finished', 120_000);
  return found;
}

const concurrencies = [8, 16, 32, 64] as const;

async function bestConcurrency(world: World, ids: readonly string[]): Promise<number> {
  let best = { atOnce: 16, perSecond: 0 };
  for (const atOnce of concurrencies) {
    const perSecond = await queries(world, ids, atOnce, 0.7);
    if (perSecond > best.perSecond) best = { atOnce, perSecond };
  }
  return best.atOnce;
}

async function queries(
  { bare }: World,
  ids: readonly string[],
  atOnce: number,
  seconds: number,
): Promise<number> {
  let done = 0;
  let next = 0;
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1_000;
  const client = async () => {
    while (elapsed() < seconds) {
      next += 1;
      await bare.query(ids[next % ids.length] ?? '');
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return done / elapsed();
}
