// A worker is killed at a named message: just before the message is passed on, or just after its
// effect and before the worker gets the answer. The restarted worker then ends the task as without
// a kill: one job, one charge, one callback id.

import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises, callbacksMissing } from './checker';
import { finalWithinMs, startTask } from './client';
import { playInWorlds, type Stage } from './in-worlds';
import { type LinkName, startWorld } from './world';

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
    containing: ['store_reports\0'],
  },
  {
    name: 'the statement that records the notification of the task',
    effect: false,
    link: 'worker to postgres',
    containing: ['mark_notified\0'],
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
  /** The number of kills for each case. */
  readonly copies: number;
  readonly worlds: number;
}

function testCrashPoints(cases: readonly Case[], { copies, worlds }: Repetition): void {
  const played = playInWorlds({
    ...{ cases, copies, worlds },
    async open() {
      const world = await startWorld({ sharesServers: true, apis: 1, workers: 1 });
      return { world, creates: [] };
    },
    async play(stage: Stage, [when, point]) {
      await crashOnce(stage, when, point);
      expect(await brokenPromises(stage.world, stage.creates)).toEqual([]);
    },
  });
  test.each(cases.map(([when, { name }], n) => [when, name, n] as const))(
    'a task ends as usual if its worker is killed %s %s',
    async (_when, _name, n) => {
      await played(n);
    },
    copies * (finalWithinMs + 120_000),
  );
}

async function crashOnce({ world, creates }: Stage, when: Moment, point: CrashPoint) {
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
  expect(task.entry.seen.at(-1)?.status).toBe('succeeded');
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

testCrashPoints(
  sized({ each: worst, long: all }),
  sized({ each: { copies: 1, worlds: 2 }, long: { copies: 20, worlds: 5 } }),
);
