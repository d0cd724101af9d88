// The audit finds what it is there to find: each kind of damage is done on purpose, behind the trigger's back.

import { closeTask, openTask } from '../../src/db/ledger';
import { audit } from '../../src/db/ledger-audit';
import { aClosing, anAccountWith, anOpening } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase(2);
  const { db } = database;
  await anAccountWith(db, 'audited', 1_000);
  await openTask(db, anOpening('audited', 'task_open', 10));
  await openTask(db, anOpening('audited', 'task_done', 100));
  await closeTask(db, aClosing('task_done', 100, 40));
});
afterEach(() => database.drop());

test('whole books have no differences', async () => {
  expect(await audit(database.db)).toMatchObject({ accounts: 1, transfers: 5, differences: [] });
});

test.each([
  ['a balance that was changed by hand', 'update balances set available = available + 1'],
  ['a hold that was changed by hand', 'update balances set held = held + 1'],
  ['a movement that is gone', `delete from transfers where id = 'task_done:refund'`],
  ['a changed amount', `update transfers set amount = 41 where id = 'task_done:settle'`],
  [
    'a task closed without its movements',
    `update tasks set finished_at = now() where id = 'task_open'`,
  ],
  [
    'a charge the task does not show',
    `update tasks set object = '{"billing":{"charged":"1"}}' where id = 'task_done'`,
  ],
  ['a failed task that was charged', `update tasks set status = 'failed' where id = 'task_done'`],
])('%s is found', async (_, damage) => {
  await database.db.raw('alter table transfers disable trigger user');
  await database.db.raw(damage);
  expect((await audit(database.db)).differences).not.toEqual([]);
});
