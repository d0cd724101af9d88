// Every part is killed under load. Every test run has a small size of this test, and the long tests
// have a large size. The seed in the test's name decides the order of the faults. CHAOS_SEED
// repeats an order.

import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises, callbacksMissing, missingExplained } from './checker';
import { finalWithinMs, pause, startCrowd } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

interface KillsSize {
  readonly posts: number;
  readonly clients: number;
  /** The number of times that the list of faults is executed. */
  readonly rounds: number;
  readonly minutes: number;
  /** A limit on the rate, so that the creates last as long as the faults. */
  readonly createsPerSecond?: number;
}

type Fault = (world: World) => Promise<void>;

const killAndStart =
  (names: readonly string[]): Fault =>
  async ({ stack }) => {
    const parts = names.map((name) => stack.part(name));
    const ends = parts.map((part) => part.exited);
    for (const part of parts) part.kill('SIGKILL');
    await Promise.all(ends);
    // Servers that other parts need are started first.
    for (const part of parts) await part.start();
  };

const freeze =
  (name: string, ms: number): Fault =>
  async ({ stack }) => {
    stack.part(name).kill('SIGSTOP');
    await pause(ms);
    stack.part(name).kill('SIGCONT');
  };

const everything = ['postgres', 'temporal', 'studio', 'worker-1', 'worker-2', 'api-1', 'api-2'];

const faults: Readonly<Record<string, Fault>> = {
  'a worker dies': killAndStart(['worker-1']),
  'both workers die': killAndStart(['worker-1', 'worker-2']),
  'an API dies': killAndStart(['api-1']),
  'the studio dies': killAndStart(['studio']),
  'PostgreSQL dies': killAndStart(['postgres']),
  'Temporal dies': killAndStart(['temporal']),
  'a worker freezes': freeze('worker-1', 10_000),
  'all backends of PostgreSQL are ended': async ({ db }) => {
    await db
      .raw(`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()`)
      .catch(() => undefined);
  },
  'everything dies at once': killAndStart(everything),
  // The workers are alike, so the death of the second alone is part of the long run only.
  ...sized<Readonly<Record<string, Fault>>>({
    each: {},
    long: { 'the other worker dies': killAndStart(['worker-2']) },
  }),
};

function testKills({ posts, clients, rounds, minutes, createsPerSecond }: KillsSize): void {
  const { seed, random } = seedOf();
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  }, 120_000);
  afterAll(() => world?.close());

  test(
    `no task of ${posts} creates is lost or made twice if every part is killed under load (CHAOS_SEED=${seed})`,
    async () => {
      const crowd = startCrowd(world, { posts, clients, random, createsPerSecond });
      for (let round = 0; round < rounds; round += 1) {
        for (const [, strike] of shuffled(Object.entries(faults), random)) {
          await strike(world);
          await pause(500 + random() * 1_000);
        }
      }
      await crowd.done;
      expect(crowd.accepted()).toBeGreaterThan(posts / 2);
      await crowd.untilAllFinal(finalWithinMs);
      expect(await brokenPromises(world, crowd.creates)).toEqual([]);
      // The checker found no read that goes back, although both sources answered through both APIs.
      const sources = crowd.creates.flatMap(({ seen }) => seen.map(({ by }) => by));
      expect(new Set(sources)).toEqual(new Set(['workflow', 'row']));
      // A worker that was frozen may count a receiver's answer as too slow. The wait is long,
      // because the third attempt comes after five minutes.
      const arrived = () => callbacksMissing(world, crowd.creates).length === 0;
      await until('every callback has arrived', arrived, 420_000).catch(() => undefined);
      expect(await missingExplained(world, crowd.creates)).toEqual([]);
      expect(await world.unexplained()).toEqual([]);
      // The limit is far above the need under this load (150 to 300 MB), and far below the memory
      // of a process with a leak.
      const memory = Object.entries(world.memory());
      expect(memory.filter(([, megabytes]) => megabytes > 1_000)).toEqual([]);
    },
    minutes * 60_000,
  );
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

testKills(
  sized<KillsSize>({
    each: { posts: 120, clients: 32, rounds: 1, minutes: 15, createsPerSecond: 1.5 },
    long: { posts: 10_000, clients: 32, rounds: 5, minutes: 120 },
  }),
);
