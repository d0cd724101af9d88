// Compares POST with a bare update-with-start, first with sixteen calls at a time, then with one.

import { atLeast, atMost, type Finding, type Row } from '../row';
import { alternate, compare, quantile } from '../support/rounds';
import { createTasks, startBareTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const createRow: Row = {
  name: 'post',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const account = await world.anAccount();
    const created: string[] = [];
    const bareIds: string[] = [];
    const ours = async (count: number, inFlight: number) => {
      const run = await createTasks(world, account, {
        model: models.parked,
        count,
        inFlight,
        mayBePending: false,
      });
      created.push(...run.ids);
      // Each round waits until its work is done. Otherwise the rest of it would slow down the next
      // round.
      await untilCount(world, run.ids, 'placed', 60_000);
      return run;
    };
    const bare = async (count: number, inFlight: number) => {
      const run = await startBareTasks(world, { kind: 'parked', count, inFlight });
      bareIds.push(...run.ids);
      await world.bare.untilParked(run.ids);
      return run;
    };
    const many = quick ? 48 : 96;
    const atOnce = await alternate(
      rounds,
      async () => (await ours(many, 16)).perSecond,
      async () => (await bare(many, 16)).perSecond,
    );
    const few = quick ? 12 : 24;
    const alone = await alternate(
      rounds,
      async () => quantile((await ours(few, 1)).latencies, 0.5),
      async () => quantile((await bare(few, 1)).latencies, 0.5),
    );
    await world.bare.end(bareIds);
    await world.generator.finish(created);
    await untilCount(world, created, 'finished', 120_000);
    return [
      atLeast('POST, 16 in flight, jobs parked', '/s', compare(atOnce), 0.9),
      atMost('POST alone, p50', 'ms', compare(alone), 1.15),
    ];
  },
};
