// Compares two workers and two APIs with one of each, on the same task queue and database. Nothing
// may be done twice, and the rate may not fall. One of each is measured before and after the pairs,
// so that a change in the machine's load affects both figures.

import { atLeast, type Finding, type Row } from '../row';
import { anotherApi, anotherWorker } from '../support/more-processes';
import { compare } from '../support/rounds';
import { createTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';
import { rateOf } from './whole';

export const pairsRow: Row = {
  name: 'pairs',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const account = await world.anAccount();
    const count = quick ? 32 : 64;
    const before = await world.generator.counts();
    const created: string[] = [];
    const through = (urls: readonly string[]) =>
      rateOf(count, async () => {
        const run = {
          model: models.instant,
          count: count / urls.length,
          inFlight: 16 / urls.length,
        };
        const runs = urls.map((apiUrl) => createTasks({ apiUrl }, account, run));
        const ids = (await Promise.all(runs)).flatMap((one) => one.ids);
        await untilCount(world, ids, 'finished', 120_000);
        created.push(...ids);
      });
    const alone: number[] = [];
    const paired: number[] = [];
    const single = async (times: number) => {
      for (let time = 0; time < times; time += 1) alone.push(await through([world.apiUrl]));
    };
    await through([world.apiUrl]);
    await single(Math.ceil(rounds / 2));
    const api = await anotherApi(world, 'api-pair');
    const worker = await anotherWorker(world, 'worker-pair');
    await through([world.apiUrl, api.url]);
    for (let round = 0; round < rounds; round += 1) {
      paired.push(await through([world.apiUrl, api.url]));
    }
    await api.stop();
    await worker.stop();
    await single(Math.floor(rounds / 2));
    await nothingTwice(world, created, before.creates);
    const found = compare({ ours: paired, bare: alone });
    const note = `${created.length} tasks: as many jobs, holds and closed tasks, none twice`;
    return [atLeast('whole tasks, two APIs and two workers', '/s', found, 0.9, note)];
  },
};

async function nothingTwice(
  { generator, pool }: World,
  ids: readonly string[],
  createsBefore: number,
): Promise<void> {
  const { creates } = await generator.counts();
  const { rows } = await pool.query<{ kind: string; n: number; tasks: number }>(
    `select kind, count(*)::int as n, count(distinct task_id)::int as tasks
       from transfers where task_id = any($1) and kind in ('hold', 'settle') group by kind`,
    [ids],
  );
  const wrong = rows.filter(({ n, tasks }) => n !== ids.length || tasks !== ids.length);
  if (creates - createsBefore !== ids.length || rows.length !== 2 || wrong.length > 0) {
    const counts = JSON.stringify({ tasks: ids.length, jobs: creates - createsBefore, rows });
    throw new Error(`Something was done twice, or not at all: ${counts}`);
  }
}
