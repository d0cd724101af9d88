// Measures whole tasks, from POST to settlement, with a generator that finishes at once. The first
// reference is a workflow with empty activities, as many as in a task without stored results. The
// second reference also copies the result into a file, as the service does.

import { atLeast, type Finding, type Row } from '../row';
import { alternate, compare } from '../support/rounds';
import { createTasks, startBareTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const wholeRow: Row = {
  name: 'whole',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const account = await world.anAccount();
    // A round takes two to three seconds. In a shorter round, the last jobs' wait for the next poll
    // would be a large part of the time.
    const count = quick ? 32 : 160;
    const before = await world.generator.counts();
    const against = async (kind: 'whole' | 'wholeStored') =>
      compare(
        await alternate(
          rounds,
          () =>
            rateOf(count, async () => {
              const run = { model: models.instant, count, inFlight: 16 };
              const { ids } = await createTasks(world, account, run);
              await untilCount(world, ids, 'finished', 120_000);
              // The workflow ends a moment after its task.
              await Promise.all(ids.map((id) => world.bare.result(id)));
            }),
          () =>
            rateOf(count, async () => {
              const { ids } = await startBareTasks(world, { kind, count, inFlight: 16 });
              await Promise.all(ids.map((id) => world.bare.result(id)));
            }),
        ),
      );
    const whole = 'whole tasks, instant generator';
    const findings = [
      atLeast(whole, '/s', await against('whole'), 0.75),
      atLeast(`${whole}, the bare result copied too`, '/s', await against('wholeStored'), 0.75),
    ];
    const { creates } = await world.generator.counts();
    const wanted = findings.length * count * (rounds + 1);
    if (creates - before.creates !== wanted) {
      throw new Error(`${wanted} tasks were ${creates - before.creates} jobs.`);
    }
    return findings;
  },
};

export async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (count / (performance.now() - started)) * 1_000;
}
