// Compares GET of live tasks with workflow queries to Temporal. Fifty clients each poll a task of
// their own as fast as possible. Then the same tasks are read through two API processes while the
// tasks run. After one process has shown a state, neither process may show a previous state. No
// answer may be older than a second.

import { atLeast, type Finding, type Row } from '../row';
import { followAcross } from '../support/follow-across';
import { runLoad } from '../support/http-load';
import { alternate, compare } from '../support/rounds';
import { createTasks, readText, startBareTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

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
    const reads = await followAcross(world, account, ids);
    await untilCount(world, ids, 'finished', 120_000);
    await world.bare.end(bareIds);
    return [
      atLeast(
        'GET of live tasks, 50 connections',
        '/s',
        compare(found),
        5,
        `bare queries at ${best} in flight, the fastest of ${concurrencies.join(', ')}`,
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
