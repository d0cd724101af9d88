// Breaks a link between two parts while tasks run: the link is slow, silent or cut, for example.
// Every fault must affect traffic. Afterwards all tasks end, and nothing was done twice. Each run has
// four faults on the worker's links to the database and to the generator, and on the API's link to
// Temporal. Three links fall silent for good: their connections pass nothing on any more and are never
// closed. The long run has every fault on every link.

import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises } from './checker';
import { finalWithinMs, pause, startCrowd } from './client';
import { playInWorlds, type Stage } from './in-worlds';
import { type LinkFault, linkFaults } from './link';
import { seedOf } from './seed';
import { type LinkName, linkNames, startWorld } from './world';

interface LinksSize {
  readonly posts: number;
  readonly brokenMs: number;
  readonly cases: readonly Case[];
}

type Case = readonly [LinkName, LinkFault];

function allOf(links: readonly LinkName[], faults: readonly LinkFault[]): readonly Case[] {
  return links.flatMap((link) => faults.map((fault): Case => [link, fault]));
}

function testLinks({ posts, brokenMs, cases }: LinksSize): void {
  const { seed, random } = seedOf();
  const played = playInWorlds({
    ...{ cases, worlds: 2 },
    async open() {
      const direct = await startWorld({ sharesServers: true, apis: 1, workers: 1 });
      const apis = [`http://${direct.links['caller to api'].address}`];
      return { world: { ...direct, apis }, creates: [] };
    },
    async play({ world, creates }: Stage, [name, fault]) {
      const link = world.links[name];
      const crowd = startCrowd(world, { posts, clients: 4, random });
      creates.push(...crowd.creates);
      await pause(300);
      link.break(fault);
      await pause(brokenMs);
      await until('the fault has met traffic', () => link.fired > 0);
      link.mend();
      await crowd.done;
      await crowd.untilAllFinal(finalWithinMs);
      expect(await brokenPromises(world, creates)).toEqual([]);
    },
  });

  test.each(cases.map(([link, fault], n) => [link, fault, n] as const))(
    `all tasks end correctly if the link from %s has the fault "%s" (CHAOS_SEED=${seed})`,
    async (_link, _fault, n) => {
      await played(n);
    },
    finalWithinMs + 90_000,
  );
}

// The longest case is the first, so that the other world plays all others meanwhile.
const each = [
  ...allOf(
    ['worker to temporal', 'worker to studio', 'api to postgres'],
    ['falls silent for good'],
  ),
  ...allOf(
    ['worker to postgres', 'worker to studio', 'api to temporal'],
    ['slow', 'reset', 'falls silent', 'cut short'],
  ),
];

testLinks(
  sized<LinksSize>({
    each: { posts: 8, brokenMs: 2_500, cases: each },
    long: { posts: 100, brokenMs: 10_000, cases: allOf(linkNames, linkFaults) },
  }),
);
