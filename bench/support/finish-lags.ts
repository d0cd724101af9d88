// Measures the time from the end of a job at the generator to the first GET that shows the end.

import type { Account, World } from '../world';
import { openWire } from './http-load';
import { pause } from './process-figures';
import { readText, untilCount } from './tasks';

// Short compared with a poll interval of three seconds. Shorter pauses would load the service.
const checkEveryMs = 100;
const spreadMs = 9_000;

/**
 * Returns the sorted times in milliseconds. The jobs end at different times within three rounds of
 * the watcher, so the figures do not depend on the moment within a round.
 */
export async function finishLags(
  world: World,
  account: Account,
  ids: readonly string[],
): Promise<readonly number[]> {
  const { hostname, port } = new URL(world.apiUrl);
  const lags = await Promise.all(
    ids.map(async (id, index) => {
      await pause((spreadMs * index) / ids.length);
      const wire = await openWire(hostname, Number(port));
      try {
        const finishedAt = await world.generator.finish([id]);
        for (;;) {
          const { status, body } = await wire.exchange(readText(account, id));
          if (status !== 200) throw new Error(`GET was answered with ${status}: ${body}`);
          const lag = Date.now() - finishedAt;
          if (body.includes('"succeeded"')) return lag;
          if (lag > 60_000) throw new Error(`${id} is not finished a minute after its job.`);
          await pause(checkEveryMs);
        }
      } finally {
        wire.close();
      }
    }),
  );
  await untilCount(world, ids, 'finished', 10_000);
  return lags.sort((a, b) => a - b);
}
