// Measures the start of the API until its first 200, and the start of a worker until its first
// accepted task.

import type { Finding, Row } from '../row';
import { anotherApi } from '../support/more-processes';
import { pause } from '../support/process-figures';
import { median } from '../support/rounds';
import { createTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const startsRow: Row = {
  name: 'starts',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds } = world.settings;
    const api: number[] = [];
    const worker: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      api.push(await startApi(world, `api-start-${round}`));
      worker.push(await startWorker(world));
    }
    return [
      started('start of the API to its first 200', api),
      started('start of the worker to its first task', worker),
    ];
  },
};

async function startApi(world: World, name: string): Promise<number> {
  const begun = performance.now();
  const { url, stop } = await anotherApi(world, name);
  const reply = await fetch(`${url}/readyz`);
  const ms = performance.now() - begun;
  await stop();
  if (!reply.ok) throw new Error(`A new API answered ${reply.status}: ${await reply.text()}`);
  return ms;
}

/** The task is already waiting when the worker starts, as after a crash. */
async function startWorker(world: World): Promise<number> {
  const account = await world.anAccount();
  const part = world.stack.part('worker');
  await part.stop();
  const admitted = createTasks(world, account, { model: models.instant, count: 1, inFlight: 1 });
  admitted.catch(() => undefined);
  await pause(300);
  const begun = performance.now();
  await part.start();
  const { ids } = await admitted;
  const ms = performance.now() - begun;
  await untilCount(world, ids, 'finished', 60_000);
  return ms;
}

function started(figure: string, found: readonly number[]): Finding {
  const spread = [Math.min(...found), Math.max(...found)] as const;
  return { figure, unit: 'ms', ours: median(found), spread };
}
