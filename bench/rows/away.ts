// Measures POST while Temporal is stopped. No call waits for Temporal.

import type { Finding, Row } from '../row';
import { openWire } from '../support/http-load';
import { anotherApi } from '../support/more-processes';
import { quantile } from '../support/rounds';
import { acceptedId, createText, untilCount } from '../support/tasks';
import { models, type World } from '../world';

const connections = 8;
const firstCreates = 10;
const msMax = 100;

export const awayRow: Row = {
  name: 'away',
  async measure(world: World): Promise<readonly Finding[]> {
    const count = world.settings.quick ? 60 : 600;
    const api = await anotherApi(world, 'api-away', {});
    const temporal = world.stack.part('temporal');
    const ids: string[] = [];
    let latencies: readonly number[];
    try {
      const text = createText(await world.anAccount(), models.instant);
      await temporal.stop();
      try {
        latencies = await createInOrder(api.url, text, count, ids);
      } finally {
        await temporal.start();
      }
      await untilCount(world, ids, 'finished', 300_000);
    } finally {
      await api.stop();
    }
    const first = latencies.slice(0, firstCreates);
    const later = latencies.slice(firstCreates).sort((a, b) => a - b);
    const p99 = quantile(later, 0.99);
    const note =
      `${connections} connections, p50 ${quantile(later, 0.5).toFixed(1)} ms; the first ` +
      `${firstCreates} took up to ${Math.max(...first).toFixed(0)} ms; all ${count} done afterwards`;
    const wanted = `≤ ${msMax} ms, no error`;
    const figure = `POST while Temporal is away, after the first ${firstCreates}, p99`;
    return [{ figure, unit: 'ms', ours: p99, wanted, met: p99 <= msMax, note }];
  },
};

/** The latencies in the order in which the requests were sent. */
async function createInOrder(
  url: string,
  text: string,
  count: number,
  ids: string[],
): Promise<readonly number[]> {
  const { hostname, port } = new URL(url);
  const latencies: number[] = [];
  let next = 0;
  const client = async () => {
    const wire = await openWire(hostname, Number(port));
    try {
      while (next < count) {
        const index = next;
        next += 1;
        const sent = performance.now();
        ids.push(acceptedId(await wire.exchange(text), true));
        latencies[index] = performance.now() - sent;
      }
    } finally {
      wire.close();
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return latencies;
}
