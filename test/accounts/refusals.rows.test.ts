// Tests the stored counts of refused calls: several processes add to them at once, and they go with time
// and with the account.

import {
  addRefusals,
  forgetRefusals,
  listRefusals,
  refusedCalls,
} from '../../src/accounts/refusals.rows';
import { connect } from '../../src/database/database';
import { finishErasure } from '../../src/tasks/erase-account.rows';
import { anAccountWith } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const refused = (accountId: string, code: string, calls: number) => ({ accountId, code, calls });

test('processes that add at once lose nothing, and wait for each other without a deadlock', async () => {
  for (const id of ['a', 'b', 'c']) await anAccountWith(database.db, id, 0);
  const processes = [1, 2, 3, 4].map(() =>
    connect({ url: database.apiUrl, poolMax: 1, applicationName: 'api' }),
  );
  const all = ['a', 'b', 'c'].flatMap((id) =>
    ['rate_limited', 'budget_exceeded'].map((code) => refused(id, code, 1)),
  );
  await Promise.all(
    processes.flatMap((db, at) =>
      Array.from({ length: 10 }, () => addRefusals(db, at % 2 ? all : all.toReversed())),
    ),
  );
  await Promise.all(processes.map((db) => db.destroy()));
  const sums = await refusedCalls(database.db, ['a', 'b', 'none']);
  expect(Object.fromEntries(sums)).toEqual({ a: 80, b: 80 });
  expect(await listRefusals(database.db, 'a')).toEqual(
    ['budget_exceeded', 'rate_limited'].map((code) => ({
      ...{ code, calls: 40 },
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    })),
  );
});

test('days begin in the time zone of the reports, and the last seven are shown', async () => {
  const { db } = database;
  await anAccountWith(db, 'a', 0);
  for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12']) {
    await db('usage_state').update({ zone });
    await addRefusals(db, [refused('a', zone, 1)]);
    await db.raw(
      `insert into refusals_days
       select cast(now() at time zone ? as date) - n, 'a', 'n' || n, n from unnest(array[6, 7]) n
       on conflict do nothing`,
      [zone],
    );
    const { rows } = await db.raw(`select to_char(now() at time zone ?, 'YYYY-MM-DD') as day`, [
      zone,
    ]);
    const listed = await listRefusals(db, 'a');
    expect(listed).toContainEqual({ ...rows[0], code: zone, calls: 1 });
    expect(listed.at(-1)?.code).toBe('n6');
    await db('refusals_days').delete();
  }
});

test('counts are kept for 90 days', async () => {
  const { db } = database;
  await db.raw(
    `insert into refusals_days
     select current_date - n, 'a', 'rate_limited', n from unnest(array[0, 90, 91]) n`,
  );
  const worker = connect({ url: database.workerUrl, poolMax: 1, applicationName: 'worker' });
  await forgetRefusals(worker, 90);
  await worker.destroy();
  expect(await db('refusals_days').orderBy('calls').pluck('calls')).toEqual([0, 90]);
});

test('they go when the account is erased, and none come after that', async () => {
  const { db } = database;
  for (const id of ['a', 'b']) await anAccountWith(db, id, 0);
  const both = [refused('a', 'account_disabled', 3), refused('b', 'rate_limited', 1)];
  await addRefusals(db, both);
  await db('accounts').where({ id: 'a' }).update({ disabled_at: new Date() });
  const operator = connect({ url: database.operatorUrl, poolMax: 1, applicationName: 'operator' });
  expect(await operator.transaction((trx) => finishErasure(trx, 'a'))).toBe(true);
  await operator.destroy();
  await addRefusals(db, [...both, refused('unknown', 'rate_limited', 1)]);
  expect(await db('refusals_days').select('account_id', 'calls')).toEqual([
    { account_id: 'b', calls: 2 },
  ]);
});
