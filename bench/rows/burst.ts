// Measures what another account feels while one account creates ten thousand tasks at once: its
// creates, and the time until its videos are there. The reference is the same account without the
// burst.

import { type Finding, percentiles, type Row } from '../row';
import { openWire } from '../support/http-load';
import { pause } from '../support/process-figures';
import { acceptedId, createTasks, createText, readText, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

interface Felt {
  readonly creates: number[];
  readonly videos: number[];
}

export const burstRow: Row = {
  name: 'burst',
  async measure(world: World): Promise<readonly Finding[]> {
    const { quick } = world.settings;
    const count = quick ? 300 : 10_000;
    const quiet = await world.anAccount();
    const loud = await world.anAccount();
    const alone = nothing();
    await work(world, quiet, alone, () => alone.videos.length >= (quick ? 5 : 40));
    const beside = nothing();
    let isOver = false;
    const watching = work(world, quiet, beside, () => isOver && beside.videos.length > 0);
    const run = { model: models.instant, count, inFlight: 50 };
    const { ids, perSecond } = await createTasks(world, loud, run);
    await untilCount(world, ids, 'finished', 1_800_000).finally(() => {
      isOver = true;
    });
    await watching;
    const note = `${perSecond.toFixed(0)} creates of the burst were answered in a second`;
    const named = (what: string) => `${what} beside a burst of ${count} tasks`;
    return [
      ...percentiles(named("another account's POST"), beside.creates, alone.creates, note),
      ...percentiles(named("another account's POST → video"), beside.videos, alone.videos),
    ];
  },
};

const nothing = (): Felt => ({ creates: [], videos: [] });

/** Creates one task after the other, and waits for each, until the work is over. */
async function work(
  { apiUrl }: World,
  account: Account,
  felt: Felt,
  isOver: () => boolean,
): Promise<void> {
  const { hostname, port } = new URL(apiUrl);
  const wire = await openWire(hostname, Number(port));
  const text = createText(account, models.instant);
  try {
    while (!isOver()) {
      const began = performance.now();
      const id = acceptedId(await wire.exchange(text));
      felt.creates.push(performance.now() - began);
      let status = '';
      while (status !== 'succeeded') {
        const { body } = await wire.exchange(readText(account, id));
        ({ status } = JSON.parse(body) as { status: string });
        if (status === 'failed') throw new Error(`A quiet task failed: ${body}`);
        await pause(10);
      }
      felt.videos.push(performance.now() - began);
    }
  } finally {
    wire.close();
  }
}
