// Measures how many tasks a second are created and placed with a provider, sixteen creates in
// flight. The reference starts bare workflows, each with one row and one activity.

import type { Finding, Row } from '../row';
import { alternate, compare } from '../support/rounds';
import { createTasks, startBareTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const startsRow: Row = {
  name: 'starts',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const account = await world.anAccount();
    const count = quick ? 48 : 192;
    const ids: string[] = [];
    const bareIds: string[] = [];
    const found = await alternate(
      rounds,
      () =>
        rateOf(count, async () => {
          const run = { model: models.parked, count, inFlight: 16 };
          const created = await createTasks(world, account, run);
          ids.push(...created.ids);
          await untilCount(world, created.ids, 'placed', 120_000);
        }),
      () =>
        rateOf(count, async () => {
          const started = await startBareTasks(world, { kind: 'parked', count, inFlight: 16 });
          bareIds.push(...started);
          await world.bare.untilParked(started);
        }),
    );
    await world.bare.end(bareIds);
    await world.generator.finish(ids);
    await untilCount(world, ids, 'finished', 300_000);
    const { ours, bare, spread } = compare(found);
    return [{ figure: 'tasks created and placed', unit: '/s', ours, reference: bare, spread }];
  },
};

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (count / (performance.now() - started)) * 1_000;
}
