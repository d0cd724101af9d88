// Breaks a link between two parts while tasks run: the link is slow, silent or cut, for example.
// Every fault must affect traffic. Afterwards all tasks end, and nothing was done twice.

import { until } from '../support/until';
import { brokenPromises } from './checker';
import { type Created, finalWithinMs, pause, startCrowd } from './client';
import type { LinkFault } from './link';
import { seedOf } from './seed';
import { type LinkName, startWorld, type World } from './world';

export interface LinksSize {
  readonly posts: number;
  readonly brokenMs: number;
  readonly links: readonly LinkName[];
  readonly faults: readonly LinkFault[];
}

export function testLinks({ posts, brokenMs, links, faults }: LinksSize): void {
  const { seed, random } = seedOf();
  let world: World;
  const all: Created[] = [];
  beforeAll(async () => {
    const direct = await startWorld({ apis: 1, workers: 1 });
    world = { ...direct, apis: [`http://${direct.links['caller to api'].address}`] };
  }, 120_000);
  afterAll(() => world?.close());

  const cases = links.flatMap((link) => faults.map((fault) => [link, fault] as const));
  test.each(cases)(
    `all tasks end correctly if the link from %s has the fault "%s" (CHAOS_SEED=${seed})`,
    async (name, fault) => {
      const link = world.links[name];
      const crowd = startCrowd(world, { posts, clients: 4, random });
      all.push(...crowd.creates);
      await pause(300);
      link.break(fault);
      await pause(brokenMs);
      await until('the fault has met traffic', () => link.fired > 0);
      link.mend();
      await crowd.done;
      await crowd.untilAllFinal(finalWithinMs);
      expect(await brokenPromises(world, all)).toEqual([]);
    },
    finalWithinMs + 90_000,
  );
}
