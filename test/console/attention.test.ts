// Tests what the console finds, and what it says needs a person, for operators and for viewers.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { taskIdForKey } from '../../src/database/ids';
import { pauseChannel, recordFault } from '../../src/jobs/watchers.rows';
import { adminWith } from '../support/admin';
import { anOpening, openNew, storePending } from '../support/books';
import { aTaskId } from '../support/builders';
import { catalogueText } from '../support/catalogue';
import { startConsole, type TestConsole } from '../support/console';

let served: TestConsole;
let accountId: string;
let key: { apiKey: string; keyId: string };
let taskId: string;
const admin = adminWith(() => served.environment);
const db = () => served.database.db;

beforeAll(async () => {
  served = await startConsole();
  const account = await admin('accounts create --name Acme --credit 100 --json');
  accountId = account.json.accountId;
  key = (await admin(`keys create --account ${accountId} --name backend --json`)).json;
  taskId = taskIdForKey(accountId, 'order 7');
  await openNew(db(), anOpening(accountId, taskId, 1_000_000));
  await db().raw(
    `update jobs set state = 'open', channel = 'studio', upstream_id = 'cgt-1', opened_at = now(),
            owes = null, due_at = null where task_id = ?`,
    [taskId],
  );
  await db().raw(
    `insert into files (id, account_id, task_id, role, key, link_token, media, expires_at)
     values ('file_00000000000000000000000001', ?, ?, 'video', 'k', 'secret-link', 'video', now() + interval '1 day')`,
    [accountId, taskId],
  );
  await db().raw(
    `insert into webhooks (id, account_id, url, events, secret)
     values ('hook_1', ?, 'https://hooks.test', '{succeeded}', 'whsec')`,
    [accountId],
  );
});
afterAll(() => served?.close());

async function found(q: string) {
  const { status, json, text } = await served.as(
    'viewer',
    'GET',
    `/find?q=${encodeURIComponent(q)}`,
  );
  expect(status).toBe(200);
  expect(text).not.toContain('secret-link');
  return json.data.map((one: { kind: string; id: string }) => [one.kind, one.id]);
}

test.each<[what: string, q: () => string, kind: string, id: () => string]>([
  ['a task by its id', () => taskId, 'task', () => taskId],
  ['a task by the id of its job upstream', () => ' cgt-1 ', 'task', () => taskId],
  ['a task by its Idempotency-Key', () => `${accountId} order 7`, 'task', () => taskId],
  ['a task by its file', () => 'file_00000000000000000000000001', 'task', () => taskId],
  ['a customer by its id', () => accountId, 'account', () => accountId],
  ['a customer by a part of its name', () => 'cme', 'account', () => accountId],
  ['a key by its id', () => key.keyId, 'key', () => key.keyId],
  ['a key by its last four characters', () => key.apiKey.slice(-4), 'key', () => key.keyId],
  ['a webhook by its id', () => 'hook_1', 'webhook', () => 'hook_1'],
])('find leads to %s', async (_, q, kind, id) => {
  expect(await found(q())).toEqual([[kind, id()]]);
});

test('find leads to nothing for an unknown word, and refuses a key', async () => {
  expect(await found('nothing at all')).toEqual([]);
  const { status, json } = await served.as('viewer', 'GET', `/find?q=${key.apiKey}`);
  expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_value', 'q']);
});

test.each([
  'vo_0000000000000000000000000000000000000000',
  'vk_with_a_mistake',
  'whsec_c2VjcmV0',
  'https://api.example.com/files/secret-link',
])('a secret such as %s is refused, and not repeated', async (secret) => {
  const { status, text } = await served.as(
    'viewer',
    'GET',
    `/find?q=${encodeURIComponent(secret)}`,
  );
  expect(status).toBe(400);
  expect(text).not.toContain(secret);
});

test('a viewer learns that the catalogue is broken, and none of its faults', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'video-catalogue-'));
  const file = join(folder, 'catalogue.yaml');
  await writeFile(file, catalogueText.replace('currency: CNY', 'currency: secret-77'));
  const broken = await startConsole({
    known: { database: served.database, owner: served.keys.viewer },
    settings: { CATALOGUE_FILE: file },
  });
  try {
    for (const path of ['/channels', '/attention', '/catalogue']) {
      const { status, text } = await broken.as('viewer', 'GET', path);
      expect([status, text]).toEqual([200, expect.stringContaining('cannot be used')]);
      expect(text).not.toMatch(/secret-77|currency:/);
      const headers = { authorization: `Bearer ${served.keys.operator}` };
      const seen = await broken.call('GET', `/admin/v1${path}`, headers);
      expect(seen.text).toContain('currency');
    }
  } finally {
    await broken.close();
    await rm(folder, { recursive: true });
  }
});

test('a sum that takes too long leaves the rest of the page', async () => {
  await db().transaction(async (trx) => {
    await trx.raw('lock table transfers in access exclusive mode');
    const { status, json } = await served.as('viewer', 'GET', '/attention');
    expect(status).toBe(200);
    expect(json.remark).toContain('charged today');
    expect(json.data.numbers).toMatchObject({ openTasks: 1, chargedToday: null });
  });
});

async function needs(role: 'viewer' | 'operator' = 'viewer') {
  const { json } = await served.as(role, 'GET', '/attention');
  return json.data;
}

const codes = async (role?: 'viewer' | 'operator') =>
  (await needs(role)).needs.map(({ code }: { code: string }) => code);

/** All loops have just run, and the channel was just read. */
const settle = async () => {
  await db().raw('update usage_state set until = now()');
  await db().raw(
    `insert into loops (kind, channel, ran_at, agreed_until)
     values ('reconciler', '', now(), null), ('audit', '', now(), now()), ('watcher', 'studio', now(), null)
     on conflict (kind, channel) do update
        set ran_at = now(), agreed_until = excluded.agreed_until`,
  );
};

test('nothing needs a person while all is well, and four numbers say what is going on', async () => {
  expect(await codes()).toEqual(['reconciler_old', 'audit_old', 'usage_old', 'channel_not_well']);
  await settle();
  expect(await needs()).toEqual({
    needs: [],
    numbers: { openTasks: 1, waitingJobs: 0, held: '1.000000', chargedToday: '0.000000' },
  });
  expect((await admin('attention')).out).toContain('Nothing needs you.');
});

test('what is late, paused, given up or not agreed is listed, and costs are for operators', async () => {
  await settle();
  await recordFault(db(), 'gone', 'busy', 60_000);
  await pauseChannel(db(), 'studio', 'Ann', 'key rotation');
  const other = aTaskId();
  await openNew(db(), anOpening(accountId, other, 1_000));
  await db().raw(`update tasks set deadline_at = now() - interval '1 hour' where id = ?`, [other]);
  await db().raw(
    `update jobs set state = 'sending', channel = 'studio', sent_at = now(), searched_since = now(),
            owes = null, due_at = null where task_id = ?`,
    [other],
  );
  await db().raw(`update files set created_at = now() - interval '1 hour'`);
  await db().raw(`update balances set available = -1`);
  await db().raw(`update accounts set alert_below = 5`);
  await db().raw(
    `insert into callbacks (task_id, account_id, url, state) values (?, ?, 'https://x.test', 'exhausted')`,
    [other, accountId],
  );
  await db().raw(
    `insert into usage_days select cast(now() as date), ?, '', 'm', 'ark', 'generation', 1, 1, 0, 1, 0,
            0, 0, 0, 7000000, 7000000`,
    [accountId],
  );
  await db().raw(`update loops set agreed_until = now() - interval '2 hours' where kind = 'audit'`);
  await db().raw(`update usage_state set until = now() - interval '4 hours'`);
  const unopened = anOpening(accountId, aTaskId(), 1_000);
  await storePending(db(), { ...unopened, createdAtMs: Date.now() - 120_000 });
  const both = [
    ...['books_differ', 'usage_old', 'tasks_overdue', 'tasks_pending', 'creates_unanswered'],
    ...['channel_paused', 'channel_not_well'],
    ...['results_late', 'callbacks_exhausted', 'accounts_below_zero', 'accounts_low'],
  ];
  expect((await codes()).sort()).toEqual(both.sort());
  expect((await codes('operator')).sort()).toEqual([...both, 'money_lost'].sort());
  const texts = JSON.stringify((await needs('operator')).needs);
  expect(texts).toContain('Ann paused studio: \\"key rotation\\".');
  expect(texts).toContain('Videos of ark for 7.000000 CNY were made in the last 7 days');
  expect(JSON.stringify(await needs())).not.toContain('7.000000');
  const { rows } = await db().raw(`select owes from jobs where task_id = ?`, [taskId]);
  expect(rows).toEqual([{ owes: null }]);
  await db().raw(`update jobs set owes = 'cancel', due_at = 'infinity' where task_id = ?`, [
    taskId,
  ]);
  expect(await codes()).toContain('cancels_given_up');
});

test('what is counted leads to a list of exactly that, for one customer too', async () => {
  const { needs: all, numbers } = await needs();
  const counts = [
    ...all.map((one: { page: string | null; count: number }) => [one.page, one.count]),
    ['tasks?status=open', numbers.openTasks],
  ].filter(([page]) => /^(tasks|callbacks|customers)\?/.test(page ?? ''));
  const rowsOf = async (page: string, of = '') => {
    const path = `/${page.replace('customers', 'accounts')}${of}`;
    const { status, json } = await served.as('viewer', 'GET', path);
    return [page, status === 200 ? json.data.length : json];
  };
  const listed = await Promise.all(counts.map(([page]) => rowsOf(page)));
  expect(listed).toEqual(counts);
  expect(counts).toHaveLength(8);
  const ofTasks = counts.filter(([page]) => page.startsWith('tasks'));
  const ofAccount = ofTasks.map(([page]) => rowsOf(page, `&account=${accountId}`));
  expect(await Promise.all(ofAccount)).toEqual(ofTasks);
  const other = (await admin('accounts create --name Other --no-key --json')).json.accountId;
  const ofOther = ofTasks.map(([page]) => rowsOf(page, `&account=${other}`));
  expect(await Promise.all(ofOther)).toEqual(ofTasks.map(([page]) => [page, 0]));
});

test('customers below zero or below the limit of their alerts are listed, and no others', async () => {
  const made = [];
  for (const [available, alert_below, disabled_at] of [
    [-1, null, new Date()],
    [4, 5, null],
    [5, 5, null],
    [0, null, null],
    [4, 5, new Date()],
  ]) {
    const { json } = await admin('accounts create --name low --no-key --json');
    await db()('accounts').where({ id: json.accountId }).update({ alert_below, disabled_at });
    await db()('balances').where({ account_id: json.accountId }).update({ available });
    made.push(json.accountId);
  }
  await db()('accounts').where({ id: accountId }).update({ alert_below: null });
  await db()('balances').where({ account_id: accountId }).update({ available: 0 });
  const { json } = await served.as('viewer', 'GET', '/accounts?low=true');
  expect(json.data.map((row: { accountId: string }) => row.accountId)).toEqual([made[1], made[0]]);
  const counts = (await needs()).needs.filter(({ code }: { code: string }) =>
    /^accounts/.test(code),
  );
  expect(counts.map(({ code, count }: { code: string; count: number }) => [code, count])).toEqual([
    ['accounts_below_zero', 1],
    ['accounts_low', 1],
  ]);
});

test('each heading that is named stands in docs/symptoms.md', async () => {
  const { readFileSync } = await import('node:fs');
  const headings = [...readFileSync('docs/symptoms.md', 'utf8').matchAll(/^### (.+)$/gm)].map(
    ([, heading = '']) => heading.toLowerCase().replaceAll(' ', '-'),
  );
  const { needs: all } = await needs('operator');
  expect(all.length).toBeGreaterThan(8);
  for (const { symptom } of all) expect(headings).toContain(symptom);
});
