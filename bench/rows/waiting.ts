// Measures thousands of tasks that wait for the generator. Their number grows, and several sizes
// are measured. The figures are the cost while nothing happens, the delay until the end of a job is
// seen, and the reads of two thousand polling clients.

import { type Finding, lagFindings, type Row } from '../row';
import { finishLags } from '../support/finish-lags';
import { pollEach } from '../support/poll-each';
import { coresUsed, pause, pidOf } from '../support/process-figures';
import { quantile } from '../support/rounds';
import { createTasks, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

const pollIntervalMs = 3_000;

export const waitingRow: Row = {
  name: 'waiting',
  async measure(world: World): Promise<readonly Finding[]> {
    const { quick } = world.settings;
    const scale = quick ? 20 : 1;
    const crowd = new Crowd(world, await world.anAccount());
    const found: Finding[] = [];
    await crowd.growTo(500 / scale);
    found.push(...(await lagOf(crowd)));
    await crowd.growTo(1_000 / scale);
    const idle = [await idleAt(crowd)];
    await crowd.growTo(2_000 / scale);
    found.push(await polled(crowd));
    if (await crowd.growTo(5_000 / scale)) {
      idle.push(await idleAt(crowd));
      found.push(...(await lagOf(crowd)));
    }
    if (await crowd.growTo(10_000 / scale)) idle.push(await idleAt(crowd));
    await crowd.mustStillWait();
    found.push(reached(crowd.waiting.length, 10_000 / scale));
    return [...idle.flatMap(idleFindings), ...found];
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

  /**
   * Creates tasks up to this count, or as many as the time limit allows. Returns false if the
   * number has grown by less than half.
   */
  async growTo(count: number): Promise<boolean> {
    const { world, account, waiting } = this;
    const before = waiting.length;
    while (waiting.length < count && this.msLeft > 0) {
      const started = performance.now();
      const some = Math.min(250, count - waiting.length);
      const run = { model: models.parked, count: some, inFlight: 32 };
      const { ids } = await createTasks(world, account, run);
      await untilCount(world, ids, 'placed', 120_000);
      waiting.push(...ids);
      this.msLeft -= performance.now() - started;
    }
    world.say(
      `  ${waiting.length} tasks wait, ${(this.msLeft / 1_000).toFixed(0)} s left to make more`,
    );
    return waiting.length >= before * 1.5;
  }

  /** Removes this many of the oldest tasks from `waiting` and returns their ids. */
  take(count: number): readonly string[] {
    return this.waiting.splice(0, count);
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

interface Idle {
  readonly waiting: number;
  readonly workerCores: number;
  readonly temporalCores: number;
  readonly listsPerSecond: number;
}

async function idleAt({ world, waiting }: Crowd): Promise<Idle> {
  const { stack, generator, settings } = world;
  const pids = [pidOf(stack.part('worker')), pidOf(stack.part('temporal'))];
  await pause(settings.quick ? 1_000 : 4_000);
  const before = await generator.counts();
  const { cores, seconds } = await coresUsed(pids, () => pause(settings.quick ? 3_000 : 12_000));
  const { lists } = await generator.counts();
  return {
    waiting: waiting.length,
    workerCores: cores[0] ?? Number.NaN,
    temporalCores: cores[1] ?? Number.NaN,
    listsPerSecond: (lists - before.lists) / seconds,
  };
}

function idleFindings({ waiting, workerCores, temporalCores, listsPerSecond }: Idle): Finding[] {
  const most = waiting / 300;
  const cpu = (who: string, cores: number): Finding => ({
    figure: `${waiting} tasks wait, nothing happens: CPU of ${who}`,
    unit: '% of a core',
    ours: cores * 100,
    wanted: '≤ 10 %',
    met: cores <= 0.1,
  });
  return [
    cpu('the worker', workerCores),
    cpu('Temporal', temporalCores),
    {
      figure: `${waiting} tasks wait: list requests upstream`,
      unit: '/s',
      ours: listsPerSecond,
      // A round takes three seconds and sends at least one request, even if only one task waits.
      wanted: `≤ ${Math.max(1, most).toFixed(1)}/s`,
      met: listsPerSecond <= Math.max(1, most),
    },
  ];
}

function reached(count: number, wanted: number): Finding {
  return {
    figure: 'tasks waiting at the end, made one by one',
    unit: '',
    ours: String(count),
    wanted: `≥ ${wanted * 0.9}`,
    // Tasks that this benchmark itself ended are not counted: a hundred tasks for each lag figure,
    // and the tasks that ended while they were polled. So 90 % of the wanted number is enough.
    met: count >= wanted * 0.9,
  };
}

async function lagOf(crowd: Crowd): Promise<readonly Finding[]> {
  const { world, account, waiting } = crowd;
  const size = waiting.length;
  const lags = await finishLags(world, account, crowd.take(world.settings.quick ? 10 : 100));
  const figure = `finish at the generator → visible by GET, ${size} waiting`;
  return lagFindings(figure, lags, pollIntervalMs);
}

async function polled(crowd: Crowd): Promise<Finding> {
  const { world, account, waiting } = crowd;
  const size = waiting.length;
  const seconds = world.settings.quick ? 18 : 60;
  const { latencies, changes, ended } = await pollEach(world, account, waiting, {
    everyMs: pollIntervalMs,
    seconds,
  });
  const gone = new Set(ended);
  const left = waiting.filter((id) => !gone.has(id));
  waiting.splice(0, waiting.length, ...left);
  return {
    figure: `GET, p99, ${size} live tasks each polled every 3 s for ${seconds} s`,
    unit: 'ms',
    ours: quantile(latencies, 0.99),
    wanted: 'no error, no missed state',
    met: true,
    note:
      `${latencies.length} reads, p50 ${quantile(latencies, 0.5).toFixed(1)} ms; ` +
      `${changes} changes of status, each seen by its client, none stepped back`,
  };
}
