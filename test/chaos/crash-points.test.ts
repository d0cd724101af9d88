// A worker is killed at a named message: just before the message is passed on, or just after its
// effect and before the worker gets the answer. The restarted worker then ends the task as without
// a kill: one job, one charge, one callback id.

import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises, callbacksMissing } from './checker';
import { type Created, finalWithinMs, startTask } from './client';
import { type LinkName, startWorld, type World } from './world';

interface CrashPoint {
  readonly name: string;
  /** True if others can see the effect of the message. The other messages only record a step. */
  readonly effect: boolean;
  readonly link: LinkName;
  /**
   * Texts that only the message of this point contains. A prepared statement is identified by its
   * name and the zero byte after the name.
   */
  readonly containing: readonly string[];
}

const crashPoints: readonly CrashPoint[] = [
  {
    name: 'the statement that opens the task with its hold',
    effect: true,
    link: 'worker to postgres',
    containing: ['open_task\0'],
  },
  {
    name: 'the statement that takes a slot',
    effect: false,
    link: 'worker to postgres',
    containing: ['take_slot\0'],
  },
  {
    name: 'the request that creates the generation job',
    effect: true,
    link: 'worker to studio',
    containing: ['POST /api/v3/contents/generations/tasks'],
  },
  {
    name: 'the statement that stores the id of the job',
    effect: false,
    link: 'worker to postgres',
    containing: ['store_opened\0'],
  },
  {
    name: 'the statement that stores the reported status of the job',
    effect: true,
    link: 'worker to postgres',
    containing: ['with change as ('],
  },
  {
    name: 'the statement that records the notification of the task',
    effect: false,
    link: 'worker to postgres',
    containing: ['set notified_at = now()'],
  },
  {
    name: 'the request that creates the enhancement job',
    effect: true,
    link: 'worker to studio',
    containing: ['POST /api/v1/tools/enhance-video'],
  },
  {
    name: 'the statement that closes and settles the task',
    effect: true,
    link: 'worker to postgres',
    containing: ['close_task\0'],
  },
  {
    name: 'the statement that records the start of a callback attempt',
    effect: false,
    link: 'worker to postgres',
    containing: ['with cut as ('],
  },
  {
    name: 'the request of the callback',
    effect: true,
    link: 'worker to receiver',
    containing: ['POST /hook'],
  },
  {
    name: 'the statement that records the result of a callback attempt',
    effect: false,
    link: 'worker to postgres',
    containing: ['with attempted as ('],
  },
];

type Moment = 'before' | 'after';
type Case = readonly [Moment, CrashPoint];

interface Repetition {
  /** The number of kills in each world, one after another. */
  readonly times: number;
  /** The number of worlds that run at once. Most of a test is waiting until a kill is noticed. */
  readonly worlds: number;
}

function testCrashPoints(cases: readonly Case[], { times, worlds: count }: Repetition): void {
  const worlds: { readonly world: World; readonly creates: Created[] }[] = [];
  beforeAll(async () => {
    // The worlds start one after another, because each searches for free ports.
    while (worlds.length < count) {
      worlds.push({ world: await startWorld({ apis: 1, workers: 1 }), creates: [] });
    }
  }, count * 120_000);
  afterAll(() => Promise.all(worlds.map(({ world }) => world.close())));

  test.each(cases.map(([when, point]) => [when, point.name, point] as const))(
    'a task ends as usual if its worker is killed %s %s',
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
  // If the trap did not fire, the worker died of another cause.
  expect(link.fired).toBe(1);
  await worker.start();
  await task.untilFinal(finalWithinMs);
  // If a worker dies during a callback attempt, the attempt is repeated after its time limit of 40
  // s.
  const arrived = () => callbacksMissing(world, [task.entry]).length === 0;
  await until('its callback has arrived', arrived, 90_000);
}

// Each run kills a worker once for every outside effect of a task, at the worst moment: the effect
// has happened, and no process has recorded it. One more kill leaves no trace in the database: the
// worker has taken the task and has stored nothing yet.
const effects = crashPoints.filter(({ effect }) => effect);
const traceless = crashPoints.filter(({ name }) => name === 'the statement that takes a slot');
const worst: readonly Case[] = [
  ...effects.map((point) => ['after', point] as const),
  ...traceless.map((point) => ['before', point] as const),
];
const all = crashPoints.flatMap((point): Case[] => [
  ['before', point],
  ['after', point],
]);

testCrashPoints(sized({ each: worst, long: all }), {
  ...sized({ each: { times: 1, worlds: 1 }, long: { times: 4, worlds: 5 } }),
});
