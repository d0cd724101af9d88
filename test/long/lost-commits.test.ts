// The database executes a statement of a create, but its answer is lost with the connection. No
// task is lost, made twice or charged wrongly.

import { brokenPromises } from '../chaos/checker';
import { type Created, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import { type LinkName, startWorld, type World } from '../chaos/world';
import { until } from '../support/until';

interface LostCommit {
  readonly name: string;
  readonly link: LinkName;
  readonly containing: string;
}

const statements: readonly LostCommit[] = [
  { name: 'stores the task', link: 'api to postgres', containing: 'accept_task\0' },
  {
    name: 'claims the task for a start',
    link: 'api to postgres',
    containing: 'for update skip locked) task',
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
    async (_, { link: name, containing }) => {
      const link = world.links[name];
      const crowds: ReturnType<typeof startCrowd>[] = [];
      for (let n = 0; n < rounds; n += 1) {
        link.set({ containing: [containing], when: 'after', spring: () => link.mend() });
        const crowd = startCrowd(world, { posts: creates, clients: creates, random });
        all.push(...crowd.creates);
        await until('the answer is lost', () => link.fired > 0);
        crowds.push(crowd);
        await crowd.done;
      }
      for (const crowd of crowds) await crowd.untilAllFinal(150_000);
      expect(await brokenPromises(world, all)).toEqual([]);
    },
    rounds * 150_000 + 200_000,
  );
}

testLostCommits({ rounds: 5, creates: 12 });
