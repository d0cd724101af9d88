// A worker is killed at a named point: just before a message that has an outside effect is passed
// on, or just after it had its effect and before the worker hears of it. Whatever it was about to
// do, another worker ends the task as if nothing had been: one job, one charge, one callback id.

import { until } from '../support/until';
import { brokenPromises, callbacksMissing } from './checker';
import { type Created, startTask } from './client';
import { type LinkName, startWorld, type World } from './world';

interface CrashPoint {
  readonly name: string;
  /** An effect the world outside sees; the others are the notes around it. */
  readonly effect: boolean;
  readonly link: LinkName;
  /**
   * Words of the one message this point is about; a prepared statement is known by its name and the
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
    containing: ['mark_sending\0'],
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
    name: 'that the task was told',
    effect: false,
    link: 'worker to postgres',
    containing: ['set signalled_at = now()'],
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
  /** In each world, one after another. */
  readonly times: number;
  /** Side by side: most of a crash is waiting until somebody notices. */
  readonly worlds: number;
}

export function testCrashPoints(
  cases: readonly (readonly [Moment, CrashPoint])[],
  { times, worlds: count }: Repetition,
): void {
  const worlds: { readonly world: World; readonly creates: Created[] }[] = [];
  beforeAll(async () => {
    // One after another, for they look for free ports.
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
    times * 120_000,
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
  // A worker that ended without its trap being sprung died of something else.
  expect(link.fired).toBe(1);
  await worker.start();
  await task.untilFinal(90_000);
  // An attempt whose worker died is repeated when its time limit of 40 s has passed.
  const arrived = () => callbacksMissing(world, [task.entry]).length === 0;
  await until('its callback has arrived', arrived, 90_000);
}
