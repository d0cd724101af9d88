// Processes are killed in turn, while callers create tasks. No accepted task is lost, made twice or
// charged wrongly.

import { brokenPromises } from './checker';
import { type Created, pause, startCrowd } from './client';
import { seedOf } from './seed';
import { startWorld, type World } from './world';

interface KillsInTurnSize {
  readonly kills: number;
  /** The number of creates during each kill. */
  readonly creates: number;
  readonly parts?: readonly string[];
  readonly open?: () => Promise<World>;
  readonly openWithinMs?: number;
}

export function testKillsInTurn({
  kills,
  creates,
  parts = ['api-1', 'temporal', 'api-2', 'temporal'],
  open = () => startWorld({ apis: 2, workers: 1 }),
  openWithinMs = 120_000,
}: KillsInTurnSize): void {
  const { seed, random } = seedOf();
  let world: World;
  const all: Created[] = [];
  beforeAll(async () => {
    world = await open();
  }, openWithinMs);
  afterAll(() => world?.close(), openWithinMs);

  test(
    `no accepted task is lost by ${kills} kills of ${[...new Set(parts)].join(', ')} in turn (CHAOS_SEED=${seed})`,
    async () => {
      for (let n = 0; n < kills; n += 1) {
        const crowd = startCrowd(world, { posts: creates, clients: 8, random });
        all.push(...crowd.creates);
        await pause(random() * 1_000);
        const part = world.part(parts[n % parts.length] ?? '');
        const end = part.exited;
        part.kill('SIGKILL');
        await end;
        // Creates continue while the process is down.
        await pause(random() * 2_000);
        await part.start();
        await crowd.done;
        await crowd.untilAllFinal(120_000);
      }
      const accepted = all.filter(({ outcome }) => outcome === 'ok');
      expect(accepted.length).toBeGreaterThan(all.length / 2);
      expect(await brokenPromises(world, all)).toEqual([]);
      expect(await world.unexplained()).toEqual([]);
    },
    kills * 150_000,
  );
}
