// Processes are stopped under load. No accepted task is lost, and each process exits with code 0 in
// time.

import { brokenPromises } from './checker';
import { type Created, finalWithinMs, pause, startCrowd } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

interface StoppingSize {
  readonly posts: number;
  readonly clients: number;
  /** The number of rolling restarts. Each replaces all processes, one after the other. */
  readonly rounds: number;
  readonly createsPerSecond?: number;
  readonly parts?: readonly string[];
  readonly open?: () => Promise<World>;
  readonly openWithinMs?: number;
}

// A process must stop within 15 s. A busy machine gets four times as long.
const stopWithinMs = 15_000;

export function testStopping({
  posts,
  clients,
  rounds,
  createsPerSecond,
  parts = ['api-1', 'worker-1', 'api-2', 'worker-2'],
  open = () => startWorld({ sharesServers: true, apis: 2, workers: 2 }),
  openWithinMs = 120_000,
}: StoppingSize): void {
  const { seed, random } = seedOf();
  let world: World;
  const all: Created[] = [];
  beforeAll(async () => {
    world = await open();
  }, openWithinMs);
  afterAll(() => world?.close(), openWithinMs);

  const each = Array.from({ length: rounds }, (_, n) => n + 1);
  test.each(each)(
    `rolling restart %i under load loses no task, and every process exits with code 0 (CHAOS_SEED=${seed})`,
    async () => {
      const crowd = startCrowd(world, { posts, clients, random, createsPerSecond });
      all.push(...crowd.creates);
      for (const name of parts) {
        await pause(500);
        const part = world.part(name);
        const end = part.exited;
        const asked = Date.now();
        // A supervisor sends SIGTERM too. The development stack's own stop would kill the process
        // after 5 s.
        part.kill('SIGTERM');
        expect([name, await end]).toEqual([name, { code: 0, signal: null }]);
        expect(Date.now() - asked).toBeLessThan(stopWithinMs * 4);
        await part.start();
      }
      await crowd.done;
      await crowd.untilAllFinal(finalWithinMs);
      expect(await brokenPromises(world, all)).toEqual([]);
    },
    finalWithinMs + parts.length * 45_000,
  );
}
