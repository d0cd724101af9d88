// The database's sessions are killed under the doors. What was answered happened, what was not is
// found out by asking again, and nothing happens twice.

import { connect, isRetryable } from '../../src/db/database';
import { closeTask, openTask } from '../../src/db/ledger';
import { audit } from '../../src/db/ledger-audit';
import { aClosing, anAccountWith, anOpening } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let killer: TestDatabase['db'];
beforeAll(async () => {
  database = await createTestDatabase(12);
  killer = connect({ url: database.url, poolMax: 1, applicationName: 'killer' });
});
afterAll(async () => {
  await killer?.destroy();
  await database?.drop();
});

test('every door ends the same after its sessions were killed, and the books agree', async () => {
  const { db } = database;
  const accountId = await anAccountWith(db, 'killed', 1_000_000);
  let killed = 0;
  let running = true;
  const killing = (async () => {
    while (running) {
      const { rows } = await killer.raw<{ rows: unknown[] }>(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name <> 'killer'`,
      );
      killed += rows.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();

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
  const end = Date.now() + 2_000;
  const client = async (name: number): Promise<number> => {
    let done = 0;
    for (; Date.now() < end; done += 1) {
      const taskId = `task_killed_${name}_${done}`;
      const opened = await persist(() => openTask(db, anOpening(accountId, taskId, 10)));
      expect(['opened', 'exists']).toContain(opened.outcome);
      await persist(() => closeTask(db, aClosing(taskId, 10, done % 2 ? 4 : null)));
    }
    return done;
  };
  const done = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(client));
  running = false;
  await killing;

  expect(killed).toBeGreaterThan(0);
  expect(troubles).toBeGreaterThan(0);
  const tasks = done.reduce((sum, count) => sum + count, 0);
  const { rows } = await db.raw<{ rows: { tasks: number; holds: number }[] }>(
    `select (select count(*) from tasks where finished_at is not null) as tasks,
            (select count(*) from transfers where kind = 'hold') as holds`,
  );
  expect(rows[0]).toEqual({ tasks, holds: tasks });
  expect((await audit(db)).differences).toEqual([]);
});
