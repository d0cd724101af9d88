// Tests of the limits on the load that one account can put on the database. Concurrent lists and
// creates are limited, and each statement has a time limit. test/tasks/list-indexes shows the plans.

import { setBudget } from '../../src/accounts/budgets.rows';
import { listTasks } from '../../src/tasks/list.rows';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { statementsWaiting } from '../support/database';
import { call } from '../support/service';
import { until } from '../support/until';

let api: TestApi;
afterEach(async () => {
  const { failures } = api;
  await api.close();
  expect(failures).toEqual([]);
});

test('the concurrent list calls of one account are limited, and a call of another account does not wait', async () => {
  api = await startApi({ databaseConnections: { own: 2, all: 1_000 } });
  const other = await api.anAccount();
  await api.create();
  const lock = await api.db.transaction();
  await lock.raw('lock table tasks in access exclusive mode');
  const lists = Array.from({ length: 6 }, () => api.call('GET', '/v1/tasks'));
  await until('two wait', async () => (await statementsWaiting(api.db)) === 2);
  expect((await call(api.url, other.apiKey, 'GET', '/v1/account')).status).toBe(200);
  // The server may still cut the statement of a call that has given up.
  await until('at most two wait', async () => (await statementsWaiting(api.db)) <= 2);
  await lock.rollback();
  // A list that waits too long for the lock is a 503.
  for (const { status } of await Promise.all(lists)) expect([200, 503]).toContain(status);
  api.failures.splice(0);
});

test('the concurrent creates of one account are limited, and creates of another account do not wait', async () => {
  api = await startApi({ databaseConnections: { own: 2, all: 1_000 } });
  const other = await api.anAccount();
  const budget = { accountId: api.accountId, keyId: null, period: 'day' } as const;
  await setBudget(api.db, { ...budget, limitMicros: 10 ** 15 });
  const lock = await api.db.transaction();
  await lock.raw('select 1 from balances where account_id = ? for update', [api.accountId]);
  const creates = Array.from({ length: 12 }, () => api.create());
  await until('two wait', async () => (await statementsWaiting(api.db)) === 2);
  const others = Array.from({ length: 12 }, () =>
    call(api.url, other.apiKey, 'POST', create, textBody),
  );
  for (const { status } of await Promise.all(others)) expect(status).toBe(200);
  // The server may still cut the statement of a call that has given up.
  await until('at most two wait', async () => (await statementsWaiting(api.db)) <= 2);
  await lock.rollback();
  // A create that waits too long for the lock is a 503.
  for (const { status } of await Promise.all(creates)) expect([200, 503]).toContain(status);
  expect((await api.create()).status).toBe(200);
  api.failures.splice(0);
});

test('a list whose statement exceeds the time limit is a 503 with Retry-After', async () => {
  api = await startApi();
  await api.create();
  await api.db.raw('alter table tasks rename to stored_tasks');
  await api.db.raw('create view tasks as select s.* from stored_tasks s, pg_sleep(30)');
  await api.db.raw('grant select on tasks to video_api');
  const { status, headers, json } = await api.call('GET', '/v1/tasks');
  expect([status, json.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
  expect(api.failures.splice(0)).toMatchObject([{ code: '57014' }]);
});

test('a list of all accounts mixes their tasks by time, in pages', async () => {
  api = await startApi();
  const { db } = api;
  const other = await api.anAccount();
  const ids: string[] = [];
  for (const key of [api.apiKey, other.apiKey, other.apiKey, api.apiKey, other.apiKey]) {
    ids.unshift((await call(api.url, key, 'POST', create, textBody)).json.id);
  }
  const newest = await listTasks(db, { limit: 3 });
  expect(newest.rows.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  const rest = await listTasks(db, { limit: 3, after: newest.next });
  expect([rest.rows.map(({ id }) => id), rest.next]).toEqual([ids.slice(3), null]);
  const oldest = await listTasks(db, { limit: 2, isOldestFirst: true });
  expect(oldest.rows.map(({ id }) => id)).toEqual(ids.slice(3).reverse());
});

test('a page of a list by labels examines at most a thousand tasks, even if few of them match', async () => {
  api = await startApi();
  const [oldest, rare] = [{ team: 'a', rare: 'yes' }, { rare: 'yes' }];
  const first = await api.create({ metadata: { labels: oldest } });
  await api.create({ metadata: { labels: rare } });
  await seedLabelled(first.json.id, 2_500);
  const pages: string[][] = [];
  let after: string | null = '';
  while (after !== null && pages.length < 10) {
    const query: string = `label.team=a&label.rare=yes${after && `&after=${after}`}`;
    const { status, json } = await api.call('GET', `/v1/tasks?${query}`);
    expect(status).toBe(200);
    pages.push((json.data as { id: string }[]).map(({ id }) => id));
    after = json.next;
  }
  expect(pages).toEqual([[], [], [first.json.id]]);
  const one = await api.call('GET', '/v1/tasks?label.team=a&limit=2');
  expect([one.json.data.length, one.json.next]).toEqual([2, one.json.data[1].id]);
});

/** Copies a task and labels the copies. Each copy is one second newer than the previous copy. */
async function seedLabelled(taskId: string, count: number): Promise<void> {
  await api.db.raw(
    `insert into tasks (id, account_id, model, object, request, plan,
                        request_hash, trace_id, created_at, deadline_at, finished_at)
     select 'task_' || lpad(n::text, 26, '0'), account_id, model,
            json_build_object('id', 'task_' || lpad(n::text, 26, '0'), 'status', 'failed'), request,
            plan, request_hash, trace_id, created_at + n * interval '1 second', deadline_at, now()
       from tasks, generate_series(1, ?) n where id = ?`,
    [count, taskId],
  );
  await api.db.raw(
    `insert into task_labels select id, account_id, 'team', 'a', created_at from tasks
      where id not in (select task_id from task_labels)`,
  );
}
