// Measures thousands of tasks that wait for the generator. Their number grows. The figures are the
// time from a provider's end to the video in a GET, the reads of two thousand polling clients, and
// the memory and processor time of ten thousand tasks while nothing happens.

import { type Finding, percentiles, type Row } from '../row';
import { finishLags } from '../support/finish-lags';
import { pollEach } from '../support/poll-each';
import { coresUsed, pause, pidOf, settledRss } from '../support/process-figures';
import { createTasks, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

const pollIntervalMs = 3_000;

export const waitingRow: Row = {
  name: 'waiting',
  async measure(world: World): Promise<readonly Finding[]> {
    const scale = world.settings.quick ? 20 : 1;
    const crowd = new Crowd(world, await world.anAccount());
    const empty = await memoryOf(world);
    await crowd.growTo(500 / scale);
    const found = [...(await lagOf(crowd))];
    await crowd.growTo(2_000 / scale);
    found.push(...(await polled(crowd)));
    await crowd.growTo(10_000 / scale);
    found.push(...(await idleAt(crowd, empty)));
    await crowd.mustStillWait();
    return found;
  },
};

/** The list of tasks that were created and have not ended. */
class Crowd {
  readonly waiting: string[] = [];
  /** The time left for creates. A slow machine is measured with fewer tasks. */
  private msLeft: number;

  constructor(
    readonly world: World,
    readonly account: Account,
  ) {
    this.msLeft = world.settings.creatingSeconds * 1_000;
  }

  /** Creates tasks up to this count, or as many as the time limit allows. */
  async growTo(count: number): Promise<void> {
    const { world, account, waiting } = this;
    while (waiting.length < count && this.msLeft > 0) {
      const started = performance.now();
      const some = Math.min(250, count - waiting.length);
      const run = { model: models.parked, count: some, inFlight: 32 };
      const { ids } = await createTasks(world, account, run);
      await untilCount(world, ids, 'placed', 120_000);
      waiting.push(...ids);
      this.msLeft -= performance.now() - started;
    }
    const left = (this.msLeft / 1_000).toFixed(0);
    world.say(`  ${waiting.length} tasks wait, ${left} s left to make more`);
  }

  async mustStillWait(): Promise<void> {
    const { rows } = await this.world.pool.query<{ n: number }>(
      'select count(*)::int as n from tasks where id = any($1) and finished_at is null',
      [this.waiting],
    );
    if (rows[0]?.n !== this.waiting.length) {
      throw new Error(`Of ${this.waiting.length} tasks only ${rows[0]?.n} still wait.`);
    }
  }
}

async function lagOf({ world, account, waiting }: Crowd): Promise<readonly Finding[]> {
  const size = waiting.length;
  const ended = waiting.splice(0, world.settings.quick ? 10 : 100);
  const lags = await finishLags(world, account, ended);
  const interval = lags.map(() => pollIntervalMs);
  const figure = `provider's end → video in GET, ${size} waiting`;
  return percentiles(figure, lags, interval, 'the reference is the poll interval');
}

async function polled({ world, account, waiting }: Crowd): Promise<readonly Finding[]> {
  const size = waiting.length;
  const seconds = world.settings.quick ? 19 : 60;
  const polling = { everyMs: pollIntervalMs, seconds };
  const { latencies, changes, ended } = await pollEach(world, account, waiting, polling);
  const gone = new Set(ended);
  waiting.splice(0, waiting.length, ...waiting.filter((id) => !gone.has(id)));
  const note = `${latencies.length} reads; ${changes} changes, each seen and none stepped back`;
  return percentiles(`GET, ${size} pollers, each every 3 s`, latencies, undefined, note);
}

async function memoryOf({ stack }: World): Promise<readonly number[]> {
  const parts = [stack.part('worker'), stack.part('temporal')];
  return Promise.all(parts.map((part) => settledRss(pidOf(part))));
}

async function idleAt(
  { world, waiting }: Crowd,
  empty: readonly number[],
): Promise<readonly Finding[]> {
  const { stack, generator, settings } = world;
  const memory = await memoryOf(world);
  const pids = [pidOf(stack.part('worker')), pidOf(stack.part('temporal'))];
  await pause(settings.quick ? 1_000 : 4_000);
  const before = await generator.counts();
  const { cores, seconds } = await coresUsed(pids, () => pause(settings.quick ? 3_000 : 12_000));
  const { lists } = await generator.counts();
  const about = `${waiting.length} tasks wait`;
  const each = ['worker', 'Temporal'].flatMap((who, at): Finding[] => [
    {
      figure: `${about}: memory of ${who}`,
      unit: 'MB',
      ours: (memory[at] ?? Number.NaN) / 2 ** 20,
      reference: (empty[at] ?? Number.NaN) / 2 ** 20,
      note: 'the reference is the memory before the first of them',
    },
    {
      figure: `${about}, nothing happens: CPU of ${who}`,
      unit: '% of a core',
      ours: (cores[at] ?? Number.NaN) * 100,
    },
  ]);
  const ours = (lists - before.lists) / seconds;
  return [...each, { figure: `${about}: list requests upstream`, unit: '/s', ours }];
}
