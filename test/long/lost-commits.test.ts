// The database executes a statement of a create, but its answer is lost with the connection. No
// task is lost, made twice or charged wrongly. A task costs nothing if the API promised that
// nothing is charged.

import { brokenPromises } from '../chaos/checker';
import { type Created, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import { type LinkName, startWorld, type World } from '../chaos/world';
import { until } from '../support/until';

interface LostCommit {
  readonly name: string;
  readonly link: LinkName;
  readonly containing: string;
  /** True if the statement belongs to creates that are answered `pending`. */
  readonly withTemporalAway?: true;
}

const statements: readonly LostCommit[] = [
  { name: 'stores the task', link: 'api to postgres', containing: 'accept_task\0' },
  {
    name: 'marks the task as answered',
    link: 'api to postgres',
    containing: 'set answered = true',
    withTemporalAway: true,
  },
  {
    name: 'claims the task for a start',
    link: 'api to postgres',
    containing: 'for update skip locked) task',
    withTemporalAway: true,
  },
  { name: 'opens the task', link: 'worker to postgres', containing: 'open_task\0' },
];

function testLostCommits({ rounds, creates }: { rounds: number; creates: number }): void {
  const { seed, random } = seedOf();
  let world: World;
  const all: Created[] = [];
  beforeAll(async () => {
    world = await startWorld({ apis: 1, workers: 1 });
  }, 120_000);
  afterAll(() => world?.close());

  test.each(statements.map((statement) => [statement.name, statement] as const))(
    `tasks end correctly after ${rounds} lost answers of the statement that %s (CHAOS_SEED=${seed})`,
    async (_, { link: name, containing, withTemporalAway }) => {
      const link = world.links[name];
      const temporal = world.stack.part('temporal');
      const crowds: ReturnType<typeof startCrowd>[] = [];
      for (let n = 0; n < rounds; n += 1) {
        if (withTemporalAway) {
          const end = temporal.exited;
          temporal.kill('SIGKILL');
          await end;
        }
        link.set({ containing: [containing], when: 'after', spring: () => link.mend() });
        const crowd = startCrowd(world, { posts: creates, clients: creates, random });
        all.push(...crowd.creates);
        await until('the answer is lost', () => link.fired > 0);
        if (withTemporalAway) await temporal.start();
        crowds.push(crowd);
        await crowd.done;
        // Until the API has seen an answer of Temporal again, no create waits for one, and so no create
        // is marked.
        if (withTemporalAway) await crowd.untilAllFinal(150_000);
      }
      // A row whose id no caller was given is withdrawn after a minute.
      for (const crowd of crowds) await crowd.untilAllFinal(150_000);
      expect(await brokenPromises(world, all)).toEqual([]);
    },
    rounds * 150_000 + 200_000,
  );
}

testLostCommits({ rounds: 5, creates: 12 });
