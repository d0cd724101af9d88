// Measures the time from the start of a process until its /readyz answers 200.

import type { Finding, Row } from '../row';
import { startAnother } from '../support/more-processes';
import { pause } from '../support/process-figures';
import { median } from '../support/rounds';
import type { World } from '../world';

export const readyRow: Row = {
  name: 'ready',
  async measure(world: World): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const kind of ['api', 'worker'] as const) {
      const seconds: number[] = [];
      for (let round = 0; round < world.settings.rounds; round += 1) {
        const began = performance.now();
        const another = await startAnother(world, kind, `${kind}-ready-${round}`);
        await untilReady(another.readyUrl);
        seconds.push((performance.now() - began) / 1_000);
        await another.stop();
      }
      const figure = `start of ${kind === 'api' ? 'an API' : 'a worker'} → ready`;
      const spread = [Math.min(...seconds), Math.max(...seconds)] as const;
      findings.push({ figure, unit: 's', ours: median(seconds), spread });
    }
    return findings;
  },
};

async function untilReady(url: string): Promise<void> {
  for (const until = Date.now() + 120_000; ; await pause(20)) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (Date.now() > until) throw new Error(`${url} was not ready within two minutes.`);
  }
}
