// Checks that a hundred thousand finished tasks do not slow down the service. Two services run on
// the same servers: one has a hundred finished tasks, the other a hundred thousand. The row
// measures the two services alternately.

import { audit } from '../../src/money/audit.rows';
import { atLeast, type Finding, type Row } from '../row';
import { runLoad } from '../support/http-load';
import { anotherService, type Side } from '../support/more-processes';
import { pause } from '../support/process-figures';
import { alternate, compare, quantile } from '../support/rounds';
import { seedFinished } from '../support/seed';
import { createTasks, readTask, readText, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

interface Crowd {
  readonly side: Side;
  readonly account: Account;
  readonly finished: number;
  readonly live: readonly string[];
}

export const crowdRow: Row = {
  name: 'crowd',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const few = await crowdOf(world, 'bench_few', 100);
    const many = await crowdOf(world, 'bench_many', quick ? 5_000 : 100_000);
    try {
      const size = many.finished.toLocaleString('en');
      const against = async (measure: (crowd: Crowd) => Promise<number>) =>
        compare(
          await alternate(
            rounds,
            () => measure(many),
            () => measure(few),
          ),
        );
      const created = await against((crowd) => createRate(world, crowd, quick ? 32 : 64));
      const read = await against((crowd) => readRate(crowd, quick ? 0.5 : 1.5));
      // The two ratios above compare rates, and a high rate is good. A time must be low instead, so
      // the ratio is inverted: `few` divided by `many`.
      const lag = await alternate(
        rounds,
        () => finishLag(world, few),
        () => finishLag(world, many),
      );
      const { ours, bare, ratio, spread } = compare(lag);
      await ended(world, few);
      await ended(world, many);
      return [
        atLeast(`POST with ${size} finished tasks, against 100`, '/s', created, 0.9),
        atLeast(`GET of live tasks with ${size} finished tasks, against 100`, '/s', read, 0.9),
        atLeast(
          `finish → visible with ${size} finished tasks, against 100`,
          'ms',
          { ours: bare, bare: ours, ratio, spread },
          0.9,
        ),
      ];
    } finally {
      await few.side.stop();
      await many.side.stop();
    }
  },
};

async function crowdOf(world: World, name: string, count: number): Promise<Crowd> {
  const side = await anotherService(world, name);
  const account = await side.anAccount();
  const { length: finished } = await seedFinished(side, account, count);
  const run = { model: models.held, count: 50, inFlight: 8 };
  const { ids: live } = await createTasks(side, account, run);
  await untilCount(side, live, 'placed', 60_000);
  return { side, account, finished, live };
}

/** Ends the remaining tasks and audits the books. */
async function ended(world: World, { side, live }: Crowd): Promise<void> {
  await world.generator.finish(live);
  await untilCount(side, live, 'finished', 60_000);
  const { differences } = await audit(side.db);
  if (differences.length > 0) throw new Error(`Books do not agree: ${JSON.stringify(differences)}`);
}

async function createRate(world: World, { side, account }: Crowd, count: number): Promise<number> {
  const run = await createTasks(side, account, {
    model: models.held,
    count,
    inFlight: 16,
    mayBePending: false,
  });
  await untilCount(side, run.ids, 'placed', 60_000);
  await world.generator.finish(run.ids);
  await untilCount(side, run.ids, 'finished', 60_000);
  return run.perSecond;
}

/** Reads only live tasks, because each read of a finished task would be answered from memory. */
async function readRate({ side, account, live }: Crowd, seconds: number): Promise<number> {
  const texts = live.map((id) => readText(account, id));
  const { perSecond } = await runLoad({
    url: side.apiUrl,
    connections: texts.length,
    until: { seconds },
    request: (_index, connection) => texts[connection] ?? '',
    check: ({ status, body }) => {
      if (status !== 200) throw new Error(`GET was answered with ${status}: ${body}`);
    },
  });
  return perSecond;
}

/**
 * Returns the median time in milliseconds from the end of a job to a GET that shows it. The channel
 * is polled ten times a second.
 */
async function finishLag(world: World, { side, account }: Crowd): Promise<number> {
  const count = 24;
  const run = { model: models.held, count, inFlight: 8 };
  const { ids } = await createTasks(side, account, run);
  await untilCount(side, ids, 'placed', 60_000);
  const lags = await Promise.all(
    ids.map(async (id, index) => {
      await pause(index * 37);
      const finishedAt = await world.generator.finish([id]);
      while ((await readTask(side, account, id)).status !== 'succeeded') {
        if (Date.now() - finishedAt > 60_000) throw new Error(`${id} is not finished after 60 s.`);
        await pause(10);
      }
      return Date.now() - finishedAt;
    }),
  );
  return quantile(
    lags.sort((a, b) => a - b),
    0.5,
  );
}
