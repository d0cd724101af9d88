// Tests the lists of the admin API: their figures and filters, and the same lists as CSV.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { addRefusals } from '../../src/accounts/refusals.rows';
import { listExhausted } from '../../src/callbacks/list.rows';
import type { Answer } from '../../src/commands/admin/command-line';
import { createExports } from '../../src/console/csv-export';
import { closeTask } from '../../src/money/ledger.rows';
import { rollUp } from '../../src/money/roll-up.rows';
import { createLogger } from '../../src/telemetry/logger';
import { adminWith } from '../support/admin';
import { aClosing, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { startConsole, type TestConsole } from '../support/console';
import { uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';
import { aWebhook, startWebhookWorker } from '../support/webhook-worker';

const taskQueue = uniqueTaskQueue();
let served: TestConsole;
const admin = adminWith(() => served.environment);
beforeAll(async () => {
  served = await startConsole({ settings: { TEMPORAL_TASK_QUEUE: taskQueue } });
});
afterAll(() => served.close());

async function aCustomer(name = 'Acme'): Promise<string> {
  const made = await admin(['accounts', 'create', '--name', name, '--credit', '100', '--json']);
  return made.json.accountId;
}

async function aTask(accountId: string, chargeMicros: number | null): Promise<string> {
  const { db } = served.database;
  const taskId = aTaskId();
  await openNew(db, anOpening(accountId, taskId, 2_000_000));
  await closeTask(db, aClosing(taskId, 2_000_000, chargeMicros));
  return taskId;
}

const get = (path: string, role: 'viewer' | 'operator' | 'owner' = 'viewer') =>
  served.as(role, 'GET', path);

test('the list of customers says what each was charged in thirty days, also before the roll-up', async () => {
  const [one, other] = [await aCustomer('One'), await aCustomer('Other')];
  await aTask(one, 1_500_000);
  await rollUp(served.database.db, 'UTC');
  await aTask(one, 250_000);
  await aTask(one, null);
  const { json } = await get('/accounts');
  const charged = Object.fromEntries(
    json.data.map((row: { accountId: string; charged30Days: string }) => [
      row.accountId,
      row.charged30Days,
    ]),
  );
  expect([charged[one], charged[other]]).toEqual(['1.750000', '0.000000']);
});

test('tasks, callbacks, acts and what was found name their customers, with one read a page', async () => {
  const { db } = served.database;
  const [one, other] = [await aCustomer('First & Co'), await aCustomer('Second')];
  const sent = [];
  for (const accountId of [one, one, other]) {
    await aTask(accountId, 1);
    sent.push(await aFinalTask(served.database, 'https://hooks.example.com/in', { accountId }));
  }
  await db('callbacks').whereIn('task_id', sent).update({ state: 'exhausted' });
  await db('accounts')
    .where({ id: other })
    .update({ disabled_at: new Date(), erased_at: new Date() });
  const reads: string[] = [];
  const [reading] = served.pools;
  reading?.on('query', ({ sql }: { sql: string }) => reads.push(sql));
  try {
    for (const path of ['/tasks', '/callbacks?state=exhausted', '/log', '/find?q=Second']) {
      reads.length = 0;
      const { json } = await get(path);
      const named = (row: { accountId: string }) => [one, other].includes(row.accountId);
      const names = json.data
        .filter(named)
        .map((row: { accountId: string; accountName: string }) => [row.accountId, row.accountName]);
      const known = [
        [one, 'First & Co'],
        [other, 'Second'],
      ].slice(path.startsWith('/find') ? 1 : 0);
      expect([path, new Map(names)]).toEqual([path, new Map(known as [string, string][])]);
      const namesRead = reads.filter((sql) => /^select id, name from accounts/.test(sql));
      expect([path, namesRead.length]).toEqual([path, 1]);
    }
  } finally {
    reading?.removeAllListeners('query');
  }
  await admin('channels pause studio --why w');
  await admin('channels resume studio --why w');
  const [act] = (await get('/log?limit=1')).json.data;
  expect(act).toMatchObject({ accountId: null, accountName: null });
  const listed = (await admin(`tasks list --account ${one} --limit 1`)).out.split('\n');
  expect(listed[0]).toMatch(/^TASK +ACCOUNT +NAME /);
  expect(listed[1]).toContain(`${one}  First & Co  `);
  const { text } = await get(`/callbacks?account=${one}&format=csv`);
  expect(text.trimEnd().split('\r\n')[1]).toMatch(/,First & Co$/);
});

test('who reaches its limits is listed with the most refused first, page by page, and shown by day and code', async () => {
  const { db } = served.database;
  const ids = [];
  for (const calls of [3, 0, 700, 3]) {
    const accountId = await aCustomer('Busy');
    ids.push(accountId);
    if (calls > 0) await addRefusals(db, [{ accountId, code: 'rate_limited', calls }]);
  }
  const [one, , most, other] = ids as [string, string, string, string];
  await db.raw(
    `insert into refusals_days
     select cast(now() at time zone 'UTC' as date) - n, ?, 'budget_exceeded', 5
       from unnest(array[1, 7]) n`,
    [most],
  );
  const columns = (row: { accountId: string; refused7Days: number }) => [
    row.accountId,
    row.refused7Days,
  ];
  const equal = [one, other].toSorted().toReversed();
  const expected = [[most, 705], ...equal.map((id) => [id, 3])];
  expect((await get('/accounts?refused=true')).json.data.map(columns)).toEqual(expected);
  expect((await get('/accounts?limit=4')).json.data.map(columns)).toEqual([
    ...[
      [other, 3],
      [most, 705],
      [ids[1], 0],
    ],
    [one, 3],
  ]);
  const paged = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { json } = await get(`/accounts?refused=true&limit=1${after && `&after=${after}`}`);
    paged.push(...json.data.map(columns));
    after = json.next;
  }
  expect(paged).toEqual(expected);
  expect((await get('/accounts?refused=true&format=csv')).text).toContain(',705,');
  const { refused } = (await get(`/accounts/${most}`)).json.data;
  expect(refused).toMatchObject([
    { code: 'rate_limited', calls: 700 },
    { code: 'budget_exceeded', calls: 5 },
  ]);
  const shown = await admin(`accounts show ${most}`);
  expect(shown.out).toMatch(/REFUSED WITH +CALLS, ABOUT\n[\d-]{10} +rate_limited +700\n/);
  expect((await admin('accounts list --refused')).out).toMatch(/^.*\n.*Busy.* 705 /);
});

test('tasks are found by the key that made them and by the code of their error', async () => {
  const accountId = await aCustomer();
  const { db } = served.database;
  const [failed, mine] = [await aTask(accountId, null), await aTask(accountId, 1)];
  await db('tasks').where({ id: mine }).update({ key_id: 'key_mine' });
  const idsOf = async (query: string) => {
    const { json } = await get(`/tasks?account=${accountId}&${query}`);
    return json.data.map(({ taskId }: { taskId: string }) => taskId);
  };
  expect(await idsOf('key=key_mine')).toEqual([mine]);
  expect(await idsOf('error=task_error')).toEqual([failed]);
  expect(await idsOf('error=task_error&key=key_mine')).toEqual([]);
  expect(await idsOf('error=task_expired')).toEqual([]);
  const all = await get('/tasks?error=task_error');
  expect(all.json.data).toContainEqual(expect.objectContaining({ taskId: failed }));
});

test('a task that failed although its video was made says at whose cost that is', async () => {
  const { db } = served.database;
  const id = await aTask(await aCustomer(), null);
  await db.raw(
    `update jobs set state = 'closed', status = 'succeeded', cost_micros = 700000, channel = 'studio',
            report = '{"kind": "generation", "upstreamId": "up-7", "status": "succeeded"}'
      where task_id = ?`,
    [id],
  );
  const { json } = await get(`/tasks/${id}`, 'operator');
  const finding = 'succeeded, but its task failed: it is at our cost';
  expect(json.data.jobs).toMatchObject([{ costMicros: 700_000, finding }]);
  expect(json.data.money).toBe('Nothing was charged; all 2.000000 CNY of its hold were returned.');
  expect((await admin(`tasks show ${id}`)).out).toContain(finding);
});

test('a list by key examines a thousand tasks at most, and goes on behind them', async () => {
  const accountId = await aCustomer();
  const { db } = served.database;
  await db.raw(
    `insert into tasks (id, account_id, key_id, model, request, plan, request_hash, trace_id,
                        created_at, deadline_at, finished_at, object)
     select 'task_' || lpad(n::text, 26, '0'), ?, case when n = 1 then 'key_old' else 'key_other' end,
            'm', '{}', '{}', '', '', now() + n * interval '1 s', now(), now(),
            json_build_object('id', 'task_' || lpad(n::text, 26, '0'), 'status', 'succeeded', 'model', 'm', 'data', json_build_array())
       from generate_series(1, 1100) n`,
    [accountId],
  );
  const path = `/tasks?account=${accountId}&key=key_old`;
  const first = await get(path);
  expect([first.json.data, typeof first.json.next]).toEqual([[], 'string']);
  const second = await get(`${path}&after=${first.json.next}`);
  expect(second.json.data).toHaveLength(1);
  expect(second.json.next).toBeUndefined();
  const { headers, text } = await get(`${path}&format=csv`);
  expect(headers['content-disposition']).toBe('attachment; filename="tasks.csv"');
  expect(text.split('\r\n')).toHaveLength(3);
});

test('a list as CSV has all pages and no formula, and the log says who took how many rows', async () => {
  const names = ['=HYPERLINK("http://x")', '-2+3', 'plain'];
  for (const name of names) await aCustomer(name);
  const { json } = await get('/accounts?limit=100');
  const { status, text, headers } = await get('/accounts?format=csv&find=acct_', 'operator');
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  const lines = text.trimEnd().split('\r\n');
  expect(lines[0]).toMatch(/^accountId,name,available,/);
  expect(lines).toHaveLength(1 + json.data.length);
  expect(text).toContain(`,"'=HYPERLINK(""http://x"")",`);
  expect(text).toContain(`,'-2+3,`);
  await until('the export is logged', () =>
    served.lines.some(
      ({ event, rows, complete }) =>
        event === 'exported' && rows === json.data.length && complete === true,
    ),
  );
  expect(served.lines.find(({ event }) => event === 'exported')).toBeDefined();
  expect(served.lines.filter(({ event }) => event === 'exported').at(-1)).toMatchObject({
    operator: 'operator',
    route: 'GET /accounts',
  });
});

test('the CSV of a statement has the movements that the page has', async () => {
  const accountId = await aCustomer();
  await aTask(accountId, 1_000_000);
  const { json } = await get(`/accounts/${accountId}/statement`);
  const { text } = await get(`/accounts/${accountId}/statement?format=csv`);
  const balances = text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',')[6]);
  expect(balances).toEqual(
    json.data.movements.map(({ balanceAfter }: { balanceAfter: string }) => balanceAfter),
  );
});

test.each([
  ['/accounts?format=xml', 400],
  ['/accounts/acct_none/statement?format=csv', 404],
  ['/channels?format=csv', 400],
])('%s is refused with %i', async (path, status) => {
  expect((await get(path)).status).toBe(status);
});

test('a viewer sees only the origin of a webhook, and who tests one learns its answer', async () => {
  const accountId = await aCustomer();
  const worker = await startWebhookWorker(served.database, taskQueue);
  try {
    const id = await aWebhook(served.database.db, accountId, `${worker.sink.url}/secret-path`);
    const path = `/accounts/${accountId}/webhooks`;
    const origin = new URL(worker.sink.url).origin;
    expect((await get(path)).json.data).toMatchObject([{ webhookId: id, url: `${origin}/…` }]);
    expect((await get(path, 'operator')).text).toContain('secret-path');
    const tested = await served.as('operator', 'POST', `/webhooks/${id}/test`);
    expect(tested.json.data).toMatchObject({ webhookId: id, status: 204, error: null });
    const none = await served.as('operator', 'POST', '/webhooks/wh_none/test');
    expect(none.status).toBe(404);
  } finally {
    await worker.close();
  }
});

test('callbacks that were given up since a time are sent again, and no others', async () => {
  const accountId = await aCustomer();
  const { db } = served.database;
  const send = async (state: string, changedAt: string) => {
    const id = await aFinalTask(served.database, 'https://hooks.example.com/in', { accountId });
    await db('callbacks').where({ task_id: id }).update({ state, changed_at: changedAt });
    return id;
  };
  const fresh = await send('exhausted', '2026-05-02');
  await send('exhausted', '2026-04-30');
  await send('delivered', '2026-05-02');
  await send('stopped', '2026-05-02');
  const body = { since: '2026-05-01', why: 'the receiver was down' };
  const path = `/accounts/${accountId}/callbacks/resend`;
  const { json } = await served.as('operator', 'POST', path, body);
  expect(json.data).toEqual({ accountId, sent: 1, withoutWebhook: 0, areMore: false });
  const pending = await get(`/callbacks?account=${accountId}&state=pending`);
  expect(pending.json.data).toMatchObject([{ taskId: fresh, deliveries: 2 }]);
  const again = await served.as('operator', 'POST', path, body);
  expect(again.json.data).toMatchObject({ sent: 0 });
});

test('two calls at once send each given up callback once', async () => {
  const accountId = await aCustomer();
  const { db } = served.database;
  const id = await aFinalTask(served.database, 'https://hooks.example.com/in', { accountId });
  await db('callbacks').where({ task_id: id }).update({ state: 'exhausted' });
  const path = `/accounts/${accountId}/callbacks/resend`;
  const body = { since: '2026-01-01', why: 'the receiver was down' };
  const both = await db.transaction(async (trx) => {
    await trx('callbacks').where({ task_id: id }).forUpdate();
    const calls = [1, 2].map(() => served.as('operator', 'POST', path, body));
    await until('both calls wait for the callback', async () => {
      const { rows } = await db.raw(
        `select from pg_stat_activity
          where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
      );
      return rows.length === 2;
    });
    return calls;
  });
  const sent = (await Promise.all(both)).map(({ json }) => json.data.sent);
  expect(sent).toEqual(expect.arrayContaining([0, 1]));
  expect(await db('callbacks').where({ task_id: id }).pluck('deliveries')).toEqual([2]);
});

test('callbacks without a webhook do not keep the others from being sent again', async () => {
  const accountId = await aCustomer();
  const { db } = served.database;
  const make = async (changedAt: string, webhookId: string | null) => {
    const id = await aFinalTask(served.database, 'https://hooks.example.com/in', { accountId });
    const row = { state: 'exhausted', changed_at: changedAt, webhook_id: webhookId };
    await db('callbacks').where({ task_id: id }).update(row);
    return id;
  };
  await make('2026-05-01', 'wh_deleted');
  const later = await make('2026-05-02', null);
  const since = new Date('2026-01-01');
  expect(await listExhausted(db, { accountId, since, limit: 1 })).toEqual([later]);
  const { json } = await served.as('operator', 'POST', `/accounts/${accountId}/callbacks/resend`, {
    ...{ since: '2026-01-01', why: 'the receiver was down' },
  });
  expect(json.data).toEqual({ accountId, sent: 1, withoutWebhook: 1, areMore: false });
});

test.each([
  ['/callbacks', 'account'],
  ['/callbacks?state=delivered', 'account'],
  ['/tasks?label=team%3Da', 'account'],
])('%s needs an account, because no index has all of them', async (path, param) => {
  const { status, json } = await get(path);
  expect([status, json.error.param]).toEqual([400, param]);
  expect((await get('/callbacks?state=exhausted')).status).toBe(200);
});

/** Exports a list whose pages `read` gives, and returns the file, or null if it was cut off. */
async function exported(read: (page: number) => Promise<Answer>, elapsed: () => number) {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger(
    { level: 'info', format: 'json', name: 'console' },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const send = createExports({ log, elapsed });
  let pages = 0;
  const app = new Koa();
  app.silent = true;
  app.use((ctx) =>
    send(ctx, {
      ...{ csv: { columns: ['id'] }, route: 'GET /tasks', operator: 'Ann' },
      read: () => {
        pages += 1;
        return read(pages);
      },
    }),
  );
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  const text = await answer.text().catch(() => null);
  await until('the export is logged', () => lines.length > 0);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { text, pages, line: lines[0] };
}

test('an export that finds little ends after two hundred pages or a minute, and says so', async () => {
  const empty = async () => ({ data: [], text: '', next: 'on' });
  const long = await exported(empty, () => 0);
  expect([long.pages, long.text]).toEqual([200, expect.stringContaining('Choose fewer')]);
  expect(long.line).toMatchObject({ event: 'exported', rows: 0, complete: false });
  let now = 0;
  const slow = await exported(empty, () => {
    now += 30_000;
    return now;
  });
  expect(slow.pages).toBeLessThan(5);
  expect(slow.text).toContain('Choose fewer');
});

test('an export that fails on its way is cut off, and the log says so', async () => {
  const { text, line } = await exported(
    async (page) => {
      if (page === 2) throw new Error('the database went away');
      return { data: [{ id: 'task_1' }], text: '', next: 'on' };
    },
    () => 0,
  );
  expect(text).toBeNull();
  expect(line).toMatchObject({ level: 'error', event: 'exported', rows: 1, complete: false });
  expect(JSON.stringify(line)).toContain('the database went away');
});

test('an owner sees which sessions are open', async () => {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const body = JSON.stringify({ key: served.keys.viewer });
  const { headers: answered } = await served.call('POST', '/session', headers, body);
  const { json } = await get('/operators/sessions', 'owner');
  expect(json.data).toMatchObject([{ name: 'viewer', role: 'viewer' }]);
  const cookie = String(answered['set-cookie']).split(';')[0] ?? '';
  await served.call('DELETE', '/session', { cookie, 'sec-fetch-site': 'same-origin' });
  expect((await get('/operators/sessions', 'owner')).json.data).toEqual([]);
});

test('the command line limits the calls of a key when it is made', async () => {
  const accountId = await aCustomer();
  const { json } = await admin(`keys create --account ${accountId} --create-rate 3 --json`);
  const { json: keys } = await admin(`keys list --account ${accountId} --json`);
  expect(keys).toContainEqual(expect.objectContaining({ keyId: json.keyId, createRate: 3 }));
});
