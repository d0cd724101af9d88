// Measures how soon the end of a job is seen on a channel with few open jobs, and how many list requests
// this costs the provider. The reference is a channel that is polled ten times a second: what its ends
// need is not the wait for a poll, but the work of the service and of this machine.

import type { Finding, Row } from '../row';
import { finishLags } from '../support/finish-lags';
import { pause } from '../support/process-figures';
import { quantile } from '../support/rounds';
import { createTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

const tasks = 40;

export const endsRow: Row = {
  name: 'ends',
  async measure(world: World): Promise<readonly Finding[]> {
    const ours = await measure(world, models.parked);
    const reference = await measure(world, models.held);
    const about = `${tasks} open jobs, their channel has an interval of 3 s`;
    return [
      {
        figure: `${about}: end of a job → its video by GET, p50`,
        ...{ unit: 'ms', ours: ours.medianMs, reference: reference.medianMs },
        wanted: '≤ 800',
        met: ours.medianMs <= 800,
      },
      {
        figure: `${about}: list requests upstream`,
        ...{ unit: '/s', ours: ours.listsPerSecond, reference: reference.listsPerSecond },
        wanted: '≤ 1.05',
        met: ours.listsPerSecond <= 1.05,
      },
    ];
  },
};

async function measure(world: World, model: string) {
  const account = await world.anAccount();
  const { ids } = await createTasks(world, account, { model, count: tasks, inFlight: 8 });
  await untilCount(world, ids, 'placed', 120_000);
  const first = await nextList(world);
  // Without an open job there would be no last list.
  const [longest = '', ...others] = ids;
  const medianMs = quantile(await finishLags(world, account, others), 0.5);
  const last = await nextList(world);
  await world.generator.finish([longest]);
  await untilCount(world, ids, 'finished', 10_000);
  return { medianMs, listsPerSecond: (last.lists - first.lists) / (last.seconds - first.seconds) };
}

/** A time that begins and ends with a list request counts no part of a pause twice. */
async function nextList(world: World) {
  const before = await world.generator.counts();
  for (;;) {
    const { lists } = await world.generator.counts();
    if (lists > before.lists) return { lists, seconds: performance.now() / 1_000 };
    await pause(10);
  }
}
