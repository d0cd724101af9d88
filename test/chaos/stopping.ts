// Stops under load: every request in progress is answered, no accepted task is lost, and the
// process exits with code 0 in time.

import { brokenPromises } from './checker';
import { type Created, finalWithinMs, pause, startCrowd } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

interface StoppingSize {
  readonly posts: number;
  readonly clients: number;
  /** How often all processes are replaced, one after the other. */
  readonly rounds: number;
  readonly createsPerSecond?: number;
  readonly parts?: readonly string[];
  readonly open?: () => Promise<World>;
  readonly openWithinMs?: number;
}

// The promise is 15 s; a busy machine gets four times as long.
const stopWithinMs = 15_000;

export function testStopping({
  posts,
  clients,
  rounds,
  createsPerSecond,
  parts = ['api-1', 'worker-1', 'api-2', 'worker-2'],
  open = () => startWorld({ apis: 2, workers: 2 }),
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
    `rolling restart %i under load loses nothing, every code is 0 (CHAOS_SEED=${seed})`,
    async () => {
      const crowd = startCrowd(world, { posts, clients, random, createsPerSecond });
      all.push(...crowd.creates);
      for (const name of parts) {
        await pause(500);
        const part = world.part(name);
        const end = part.exited;
        const asked = Date.now();
        // As a supervisor stops it; the development stack waits less.
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
