// Measures a POST as a caller feels it: alone and sixteen in flight, while Temporal answers and while
// it is away. The reference is a bare Koa route that stores one row. It gets its load while the machine
// still works on the tasks of the same round: beside an idle machine it would tell how busy Temporal is.

import { type Finding, p99, percentiles, type Row } from '../row';
import { requestText, runLoad } from '../support/http-load';
import { createTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const createRow: Row = {
  name: 'create',
  async measure(world: World): Promise<readonly Finding[]> {
    const temporal = world.stack.part('temporal');
    const up = await both(world, '');
    await temporal.stop();
    const ids: string[] = [];
    let away: readonly Finding[];
    try {
      away = await both(world, ', Temporal away', ids);
    } finally {
      await temporal.start();
    }
    await untilCount(world, ids, 'finished', 300_000);
    return [...up, ...away];
  },
};

/** If `later` is given, the tasks are not awaited: their ids are added to it. */
async function both(world: World, when: string, later?: string[]): Promise<readonly Finding[]> {
  const { quick } = world.settings;
  const alone = { count: quick ? 12 : 48, inFlight: 1 };
  const many = { count: quick ? 48 : 192, inFlight: 16 };
  return [
    ...(await compared(world, `POST alone${when}`, alone, later)),
    ...(await compared(world, `POST, 16 in flight${when}`, many, later)),
  ];
}

interface Load {
  readonly count: number;
  readonly inFlight: number;
}

async function compared(
  world: World,
  figure: string,
  load: Load,
  later: string[] | undefined,
): Promise<readonly Finding[]> {
  const account = await world.anAccount();
  const found = { ours: [] as number[], bare: [] as number[] };
  // The first round warms up.
  for (let round = 0; round <= world.settings.rounds; round += 1) {
    const { ids, latencies } = await createTasks(world, account, {
      model: models.instant,
      ...load,
    });
    const bare = await storeRows(world, load);
    if (later) later.push(...ids);
    // Otherwise the rest of a round would slow down the next one.
    else await untilCount(world, ids, 'finished', 120_000);
    if (round === 0) continue;
    found.ours.push(...latencies);
    found.bare.push(...bare);
  }
  const limit = { wanted: '≤ 3 ×', met: p99(found.ours) <= 3 * p99(found.bare) };
  return percentiles(figure, found.ours, found.bare).map((finding) =>
    finding.figure.endsWith('p99') ? { ...finding, ...limit } : finding,
  );
}

async function storeRows(world: World, { count, inFlight }: Load): Promise<readonly number[]> {
  const text = requestText('POST', '/rows', {}, { model: 'bare', prompt: 'A paper boat' });
  const { latencies } = await runLoad({
    url: world.bare.url,
    connections: inFlight,
    until: { requests: count },
    request: () => text,
    check: ({ status, body }) => {
      if (status !== 200) throw new Error(`The bare route answered ${status}: ${body}`);
    },
  });
  return latencies;
}
