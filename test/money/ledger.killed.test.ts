// PostgreSQL sessions are killed while tasks are opened and closed. The client repeats each call
// that got no answer. Afterwards every task must be opened and closed exactly once.

import type { Knex } from 'knex';
import { connect, isRetryable } from '../../src/database/database';
import { audit } from '../../src/money/audit.rows';
import { closeTask, openTask } from '../../src/money/ledger.rows';
import { aClosing, anAccountWith, anOpening, storePending } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { sized } from '../support/sized';

interface KilledSize {
  /** Number of rounds; each kills sessions for two seconds. */
  readonly rounds: number;
}

const roundMs = 2_000;

function testKilledSessions({ rounds }: KilledSize): void {
  let database: TestDatabase;
  let killer: Knex;
  beforeAll(async () => {
    database = await createTestDatabase(12);
    killer = connect({ url: database.url, poolMax: 1, applicationName: 'killer' });
  });
  afterAll(async () => {
    await killer?.destroy();
    await database?.drop();
  });

  let tasks = 0;
  const each = Array.from({ length: rounds }, (_, n) => n + 1);
  test.each(each)(
    'every task is opened and closed exactly once although sessions are killed, and the books agree (round %i)',
    async (round) => {
      const { db } = database;
      const accountId = await anAccountWith(db, `killed_${round}`, 1_000_000);
      let running = true;
      const killing = killUntil(killer, () => !running);
      const { done, troubles } = await workThroughTrouble(db, accountId);
      running = false;
      expect(await killing).toBeGreaterThan(0);
      expect(troubles).toBeGreaterThan(0);
      tasks += done;
      const { rows } = await db.raw<{ rows: { tasks: number; holds: number }[] }>(
        `select (select count(*) from tasks where finished_at is not null) as tasks,
                (select count(*) from transfers where kind = 'hold') as holds`,
      );
      expect(rows[0]).toEqual({ tasks, holds: tasks });
      expect((await audit(db)).differences).toEqual([]);
    },
  );
}

/** Ends all other sessions ten times a second. Returns how many sessions it ended. */
async function killUntil(killer: Knex, isOver: () => boolean): Promise<number> {
  let killed = 0;
  while (!isOver()) {
    const { rows } = await killer.raw<{ rows: unknown[] }>(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name <> 'killer'`,
    );
    killed += rows.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return killed;
}

/** Eight clients open and close tasks, and repeat every call that failed. */
async function workThroughTrouble(db: Knex, accountId: string) {
  let troubles = 0;
  const persist = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isRetryable(error)) throw error;
        troubles += 1;
      }
    }
  };
  const end = Date.now() + roundMs;
  let done = 0;
  const client = async (name: number): Promise<void> => {
    for (let mine = 0; Date.now() < end; mine += 1) {
      const taskId = `task_${accountId}_${name}_${mine}`;
      await persist(() => storePending(db, anOpening(accountId, taskId, 10)));
      const opened = await persist(() => openTask(db, anOpening(accountId, taskId, 10)));
      expect(['opened', 'exists']).toContain(opened.outcome);
      await persist(() => closeTask(db, aClosing(taskId, 10, mine % 2 ? 4 : null)));
      done += 1;
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(client));
  return { done, troubles };
}

testKilledSessions(sized({ each: { rounds: 1 }, long: { rounds: 20 } }));
