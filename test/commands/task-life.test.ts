// Tests that `tasks show` and the admin API tell the same sentences on one task: why it waits and
// where its money is. waiting.rules.test.ts tests every sentence.

import { createKey } from '../../src/accounts/keys.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { adminWith } from '../support/admin';
import { aClosing, anAccountWith, anOpening, openNew, storePending } from '../support/books';
import { anEnhancedPlan, aTaskId, aTaskInput } from '../support/builders';
import { startConsole, type TestConsole } from '../support/console';

let served: TestConsole;
let db: TestConsole['database']['db'];
const admin = adminWith(() => served.environment);
beforeAll(async () => {
  served = await startConsole();
  ({ db } = served.database);
});
afterAll(() => served.close());

let accounts = 0;

async function aCustomer(): Promise<string> {
  accounts += 1;
  return anAccountWith(db, `acct_${accounts}`, 100_000_000);
}

async function anOpenTask(accountId: string): Promise<string> {
  const taskId = aTaskId();
  await openNew(db, anOpening(accountId, taskId, 1_000_000));
  return taskId;
}

const change = (taskId: string, columns: string, values: readonly (string | number)[] = []) =>
  db.raw(`update jobs set owes = null, due_at = null, ${columns} where task_id = ?`, [
    ...values,
    taskId,
  ]);

/** The answer of the command line, which the answer of the API must equal. */
async function shown(taskId: string) {
  const { json } = await admin(`tasks show ${taskId} --json`);
  const { json: answer } = await served.as('viewer', 'GET', `/tasks/${taskId}`);
  const { data } = answer;
  expect(data.waiting.map(({ code }: { code: string }) => code)).toEqual(
    json.waiting.map(({ code }: { code: string }) => code),
  );
  expect([data.money, data.timeline]).toEqual([json.money, json.timeline]);
  return json as {
    waiting: { code: string; sentence: string }[];
    money: string;
    timeline: { step: string; at: string }[];
  };
}

test('waiting jobs of three customers have their places and turns', async () => {
  const tasks: string[][] = [];
  for (const _ of [1, 2, 3]) {
    const accountId = await aCustomer();
    tasks.push([await anOpenTask(accountId), await anOpenTask(accountId)]);
  }
  for (const [at, [first = '', second = '']] of tasks.entries()) {
    const waits = `state = 'waiting', channels = array['studio'], waiting_since = now() + make_interval(secs => ?)`;
    await change(first, waits, [at]);
    await change(second, waits, [at + 1]);
  }
  const { waiting, money, timeline } = await shown(tasks[1]?.[1] ?? '');
  expect(waiting).toEqual([
    {
      code: 'slots',
      sentence: expect.stringMatching(
        /^studio: 0 .*used\. 6 jobs of 3 customers wait; this one is the 2nd of its customer, and customers take turns\.$/,
      ),
    },
  ]);
  expect(money).toBe('1.000000 CNY are held until it ends.');
  expect(timeline.map(({ step }) => step)).toEqual([
    'accepted',
    'opened: its hold was taken',
    'generation: waited for a slot',
  ]);
  const { out } = await admin(`tasks show ${tasks[1]?.[1]}`);
  expect(out).toContain(waiting[0]?.sentence);
  expect(out).toContain(money);
});

test('a job at its provider is told with its upstream id, and one that runs does not wait', async () => {
  const taskId = await anOpenTask(await aCustomer());
  const round = `insert into loops (kind, channel, ran_at) values ('watcher', 'kling', now())
                 on conflict (kind, channel) do update set ran_at = now()`;
  await db.raw(round);
  await change(
    taskId,
    `state = 'open', channel = 'kling', upstream_id = 'up-9', sent_at = now(), opened_at = now()`,
  );
  expect((await shown(taskId)).waiting).toMatchObject([
    {
      code: 'at_provider',
      sentence: expect.stringMatching(/^kling has it as up-9 since .* says queued/),
    },
  ]);
  await change(taskId, `status = 'running'`);
  expect((await shown(taskId)).waiting).toEqual([]);
  expect((await admin('tasks show up-9 --json')).json.taskId).toBe(taskId);
});

test('a job whose channels have left the catalogue, and a pending task, are told', async () => {
  const accountId = await aCustomer();
  const taskId = await anOpenTask(accountId);
  await change(taskId, `state = 'waiting', channels = array['gone'], waiting_since = now()`);
  expect((await shown(taskId)).waiting).toMatchObject([{ code: 'no_channel' }]);
  const pending = aTaskId();
  await storePending(db, anOpening(accountId, pending, 1_000_000));
  const { waiting, money } = await shown(pending);
  expect(waiting).toMatchObject([{ code: 'not_started' }]);
  expect(money).toBe('Nothing is held yet: its hold is taken when its workflow starts.');
});

test('the key that made a task is told with its name', async () => {
  const accountId = await aCustomer();
  const { keyId } = await createKey(db, { accountId, name: 'nightly' });
  const taskId = await anOpenTask(accountId);
  await db('tasks').where({ id: taskId }).update({ key_id: keyId });
  expect(await shown(taskId)).toMatchObject({ keyId, keyName: 'nightly' });
  const { out } = await admin(`tasks show ${taskId}`);
  expect(out).toMatch(new RegExp(`^keyId +${keyId}$`, 'm'));
  expect(out).toMatch(/^keyName +nightly$/m);
  const path = `/tasks?account=${accountId}&format=csv`;
  const [titles = '', row = ''] = (await served.as('viewer', 'GET', path)).text.split('\r\n');
  expect([titles.split(',').at(-1), row.split(',').at(-1)]).toEqual(['keyId', keyId]);
});

test('the sentence on the money of an ended task adds up to its movements', async () => {
  const taskId = await anOpenTask(await aCustomer());
  await closeTask(db, aClosing(taskId, 1_000_000, 400_000));
  const { waiting, money } = await shown(taskId);
  expect(waiting).toEqual([]);
  expect(money).toBe('0.400000 CNY of the held 1.000000 CNY were charged, 0.600000 CNY returned.');
  const { json } = await admin(`tasks show ${taskId} --json`);
  expect(json.movements.map(({ kind, amount }: Record<string, string>) => [kind, amount])).toEqual([
    ['hold', '1.000000'],
    ['settle', '0.400000'],
    ['refund', '0.600000'],
  ]);
});

test('the lines of a hold, and then of the bill, are shown with the price list; a viewer gets the bill', async () => {
  const accountId = await aCustomer();
  await db('accounts').where({ id: accountId }).update({ name: 'Acme' });
  const taskId = aTaskId();
  const plan = { ...anEnhancedPlan(), priceList: 'bulk' };
  await openNew(db, aTaskInput({ accountId, taskId, plan }));
  const as = async (role: 'viewer' | 'operator') =>
    (await served.as(role, 'GET', `/tasks/${taskId}`)).json.data;
  const generation = { kind: 'generation' as const, unit: '1M tokens', unit_price: '46.000000' };
  const held = [
    { ...generation, quantity: '0.108900', amount: '5.009400' },
    {
      ...{ kind: 'super_resolution', unit: 'minute', unit_price: '1.500000' },
      ...{ quantity: '0.084033', amount: '0.126050' },
    },
  ];
  const live = await as('operator');
  expect(live.calculation).toEqual({ of: 'hold', items: held, priceList: 'bulk' });
  expect([live.accountName, live.money]).toEqual(['Acme', expect.stringMatching(/^5\.135450 /)]);
  const { out } = await admin(`tasks show ${taskId}`);
  expect(out).toMatch(/^accountName +Acme$/m);
  expect(out).toMatch(
    /^Its hold, by the price list bulk:\nITEM .*\ngeneration +0\.108900 +1M tokens +46\.000000 +5\.009400\nsuper_resolution .* 0\.126050$/m,
  );
  expect((await as('viewer')).calculation).toEqual({ of: 'hold', items: [] });

  const items = [{ ...generation, quantity: '0.086957', amount: '4.000022' }];
  const closing = aClosing(taskId, 5_135_450, 4_000_022);
  const billing = { ...closing.object.billing!, items };
  await closeTask(db, { ...closing, object: { ...closing.object, billing } });
  expect((await as('operator')).calculation).toEqual({ of: 'bill', items, priceList: 'bulk' });
  expect((await as('viewer')).calculation).toEqual({ of: 'bill', items });
  await db('tasks').where({ id: taskId }).update({ plan: '{}' });
  expect((await as('operator')).calculation).toEqual({ of: 'bill', items });
  expect((await admin(`tasks show ${taskId}`)).out).toMatch(/^Its bill:\nITEM /m);
});

test('content is shown to an operator who says why, and the log has the reason', async () => {
  const taskId = await anOpenTask(await aCustomer());
  await db.raw(`update tasks set request = '{"prompt": "a canary in a mine"}' where id = ?`, [
    taskId,
  ]);
  const seen = await served.as('operator', 'GET', `/tasks/${taskId}`);
  expect(seen.text).not.toContain('canary');
  const path = `/tasks/${taskId}/content`;
  expect((await served.as('viewer', 'POST', path, { why: 'x' })).status).toBe(403);
  expect((await served.as('operator', 'POST', path)).json.error.param).toBe('why');
  const { json } = await served.as('operator', 'POST', path, { why: 'case 12' });
  expect(json.data.request.prompt).toBe('a canary in a mine');
  const { json: acts, out } = await admin('log --limit 1 --json');
  expect(acts).toMatchObject([
    { who: 'operator', command: `tasks content ${taskId}`, why: 'case 12' },
  ]);
  expect(out).not.toContain('canary');
  await db.raw(`update tasks set request = '{}' where id = ?`, [taskId]);
  expect((await served.as('operator', 'POST', path, { why: 'again' })).status).toBe(409);
});
