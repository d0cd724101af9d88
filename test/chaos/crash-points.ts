// A worker is killed at a named point: just before a message with an outside effect is passed on,
// or just after its effect and before the worker gets the answer. Another worker then ends the task
// as without a kill: one job, one charge, one callback id.

import { until } from '../support/until';
import { brokenPromises, callbacksMissing } from './checker';
import { type Created, finalWithinMs, startTask } from './client';
import { type LinkName, startWorld, type World } from './world';

interface CrashPoint {
  readonly name: string;
  /** An effect that is visible outside; the other points are the records around it. */
  readonly effect: boolean;
  readonly link: LinkName;
  /**
   * Texts of the one message of this point. A prepared statement is identified by its name and the
   * zero after it.
   */
  readonly containing: readonly string[];
}

export const crashPoints: readonly CrashPoint[] = [
  { name: 'row and hold', effect: true, link: 'worker to postgres', containing: ['open_task\0'] },
  {
    name: 'the note that a create leaves',
    effect: false,
    link: 'worker to postgres',
    containing: ['take_slot\0'],
  },
  {
    name: 'the create',
    effect: true,
    link: 'worker to studio',
    containing: ['POST /api/v3/contents/generations/tasks'],
  },
  {
    name: 'the job’s id',
    effect: false,
    link: 'worker to postgres',
    containing: ['store_opened\0'],
  },
  {
    name: 'what the watcher heard',
    effect: true,
    link: 'worker to postgres',
    containing: ['with change as ('],
  },
  {
    name: 'that the task was notified',
    effect: false,
    link: 'worker to postgres',
    containing: ['set notified_at = now()'],
  },
  {
    name: 'the enhancement',
    effect: true,
    link: 'worker to studio',
    containing: ['POST /api/v1/tools/enhance-video'],
  },
  {
    name: 'final row and settlement',
    effect: true,
    link: 'worker to postgres',
    containing: ['close_task\0'],
  },
  {
    name: 'the note that a callback leaves',
    effect: false,
    link: 'worker to postgres',
    containing: ['with cut as ('],
  },
  { name: 'the callback', effect: true, link: 'worker to receiver', containing: ['POST /hook'] },
  {
    name: 'how the callback went',
    effect: false,
    link: 'worker to postgres',
    containing: ['with attempted as ('],
  },
];

type Moment = 'before' | 'after';

interface Repetition {
  /** The number of points in each harness, one after another. */
  readonly times: number;
  /** The number of harnesses at once: most of a crash is waiting until it is noticed. */
  readonly worlds: number;
}

export function testCrashPoints(
  cases: readonly (readonly [Moment, CrashPoint])[],
  { times, worlds: count }: Repetition,
): void {
  const worlds: { readonly world: World; readonly creates: Created[] }[] = [];
  beforeAll(async () => {
    // One after another, because each searches for free ports.
    while (worlds.length < count) {
      worlds.push({ world: await startWorld({ apis: 1, workers: 1 }), creates: [] });
    }
  }, count * 120_000);
  afterAll(() => Promise.all(worlds.map(({ world }) => world.close())));

  test.each(cases.map(([when, point]) => [when, point.name, point] as const))(
    'a worker killed %s %s changes nothing',
    async (when, _, point) => {
      const crashes = worlds.map(async ({ world, creates }) => {
        for (let n = 0; n < times; n += 1) await crashOnce(world, when, point, creates);
        expect(await brokenPromises(world, creates)).toEqual([]);
      });
      await Promise.all(crashes);
    },
    times * (finalWithinMs + 120_000),
  );
}

async function crashOnce(
  world: World,
  when: Moment,
  point: CrashPoint,
  creates: Created[],
): Promise<void> {
  const worker = world.stack.part('worker-1');
  const end = worker.exited;
  const link = world.links[point.link];
  link.set({
    containing: point.containing,
    when,
    spring: () => worker.kill('SIGKILL'),
  });
  const task = startTask(world);
  creates.push(task.entry);
  await end;
  // A worker that ended without its trap died of another cause.
  expect(link.fired).toBe(1);
  await worker.start();
  await task.untilFinal(finalWithinMs);
  // An attempt whose worker died is repeated after its time limit of 40 s.
  const arrived = () => callbacksMissing(world, [task.entry]).length === 0;
  await until('its callback has arrived', arrived, 90_000);
}
