// Tests that the admin API acts as the command line does: in one transaction, with one row in the
// log of operators, which can be pasted into a shell.

import { execFileSync } from 'node:child_process';
import { adminCommands } from '../../src/commands/admin';
import { readInput } from '../../src/commands/admin/command-line';
import { routes } from '../../src/console/routes';
import { freePorts } from '../../src/embedded/ports';
import { adminWith, type Said } from '../support/admin';
import { anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { type Answered, startConsole, type TestConsole } from '../support/console';
import { type Cutter, startCutter } from '../support/cutter';
import { startProcess } from '../support/processes';
import { connectTemporal, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';
import { aWebhook, startWebhookWorker, type WebhookWorker } from '../support/webhook-worker';

const taskQueue = uniqueTaskQueue();
let served: TestConsole;
let worker: WebhookWorker;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
const admin = adminWith(() => served.environment);
beforeAll(async () => {
  [served, temporal] = await Promise.all([
    startConsole({ settings: { TEMPORAL_TASK_QUEUE: taskQueue } }),
    connectTemporal(),
  ]);
  worker = await startWebhookWorker(served.database, taskQueue);
});
afterAll(async () => {
  await worker.close();
  await temporal.close();
  await served.close();
});

async function aCustomer(name = 'Acme') {
  const { json } = await admin(`accounts create --name ${name} --credit 100 --json`);
  return json as { accountId: string; keyId: string };
}

const available = async (id: string) =>
  (await admin(`accounts show ${id} --json`)).json.available as string;
const acts = async (): Promise<Said['json']> => (await admin('log --json --limit 1000')).json;

const aCredit = { amount: '5', reference: 'r1', reason: 'top-up', why: 'paid by transfer' };

test('a viewer credits nothing, and the refusal is logged', async () => {
  const { accountId } = await aCustomer();
  const known = await acts();
  const refused = await served.as('viewer', 'POST', `/accounts/${accountId}/credits`, aCredit);
  expect([refused.status, refused.json.error]).toEqual([
    403,
    { code: 'forbidden', message: 'This needs the role owner; you are a viewer.', param: '' },
  ]);
  expect(await available(accountId)).toBe('100.000000');
  expect(await acts()).toEqual(known);
  const lines = served.lines.filter(
    ({ event, code }) => event === 'operator_refused' && code === 'forbidden',
  );
  expect(lines).toHaveLength(1);
  expect(lines).toMatchObject([{ operator: 'viewer', role: 'viewer' }]);
});

test('ten equal credits at once move the money once, and each leaves a row in the log', async () => {
  const { accountId } = await aCustomer();
  const before = (await acts()).length;
  const path = `/accounts/${accountId}/credits`;
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => served.as('owner', 'POST', path, aCredit)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(answers.filter(({ json }) => json.data.recorded === true)).toHaveLength(1);
  expect(await available(accountId)).toBe('105.000000');
  expect((await acts()).length - before).toBe(10);
  const other = await served.as('owner', 'POST', path, { ...aCredit, amount: '6' });
  expect([other.status, other.json.error.code]).toEqual([409, 'not_so']);
  expect(await available(accountId)).toBe('105.000000');
});

test.each(['amount', 'reference', 'reason', 'why'])(
  'a credit without the field %s is refused, and the refusal names it',
  async (absent) => {
    const { accountId } = await aCustomer();
    const body = Object.fromEntries(Object.entries(aCredit).filter(([name]) => name !== absent));
    const { status, json } = await served.as(
      'owner',
      'POST',
      `/accounts/${accountId}/credits`,
      body,
    );
    expect([status, json.error.param]).toEqual([400, absent]);
    expect(await available(accountId)).toBe('100.000000');
  },
);

test.each<[what: string, body: object, param: string]>([
  ['an operator of its choice', { ...aCredit, as: 'Bob' }, 'as'],
  ['an unknown field', { ...aCredit, amuont: '5' }, 'amuont'],
  ['an amount that is no text', { ...aCredit, amount: 0.5 }, 'amount'],
  ['an empty reason', { ...aCredit, reason: '' }, 'reason'],
  ['a list', { ...aCredit, reference: ['r'] }, 'reference'],
  ['a line break in the reason for the log', { ...aCredit, why: 'a\nb' }, 'why'],
])('a credit with %s is refused, and the refusal names the field', async (_, body, param) => {
  const { accountId } = await aCustomer();
  const known = await acts();
  const { status, json } = await served.as('owner', 'POST', `/accounts/${accountId}/credits`, body);
  expect([status, json.error.param]).toEqual([400, param]);
  expect(await available(accountId)).toBe('100.000000');
  expect(await acts()).toEqual(known);
});

test('a word of the path is no option', async () => {
  const named = await served.as('owner', 'POST', '/accounts/--as=Bob/credits', aCredit);
  expect(named.status).toBe(400);
  const { json } = await served.as('owner', 'GET', '/accounts/--help');
  expect(json.error.code).toBe('invalid_value');
});

test('an opening credit is an act of its own', async () => {
  const body = { name: 'Other', credit: '5' };
  const { status, json } = await served.as('owner', 'POST', '/accounts', body);
  expect([status, json.error.param]).toEqual([400, 'credit']);
});

test('a key, with which its customer is read, is not made without a reason', async () => {
  const { accountId } = await aCustomer();
  const { status, json } = await served.as('operator', 'POST', '/keys', { account: accountId });
  expect([status, json.error.param]).toEqual([400, 'why']);
  expect((await admin(`keys list --account ${accountId} --json`)).json).toHaveLength(1);
});

interface Customer {
  readonly accountId: string;
  readonly keyId: string;
}

interface Call {
  /** The words of the path, and the body or the query. */
  readonly words: (customer: Customer) => readonly string[] | Promise<readonly string[]>;
  readonly fields?: object;
}

async function aRunningTask({ accountId }: Customer): Promise<string> {
  const taskId = aTaskId();
  await openNew(served.database.db, anOpening(accountId, taskId, 1_000_000));
  // No worker polls this queue, so the workflow only records the request.
  const options = { taskQueue: 'no-worker', workflowId: taskId, args: [] };
  await temporal.client.workflow.start('generateVideo', options);
  return taskId;
}

async function anOperator(): Promise<readonly string[]> {
  const name = `ann-${Math.random().toString(36).slice(2)}`;
  return [(await admin(`operators add --name ${name} --role owner --json`)).json.operatorId];
}

const calls: Readonly<Record<string, Call>> = {
  'accounts create': { words: () => [], fields: { name: `Bob's "place" $(x)` } },
  'accounts credit': { words: ({ accountId }) => [accountId], fields: aCredit },
  'accounts correct': {
    words: ({ accountId }) => [accountId],
    fields: { amount: '1', for: 'house', reference: 'c', reason: '--mistake', why: 'case 7' },
  },
  'accounts disable': {
    words: ({ accountId }) => [accountId],
    fields: { cancel: false, why: 'asked' },
  },
  'accounts enable': { words: ({ accountId }) => [accountId] },
  'accounts terms': { words: ({ accountId }) => [accountId], fields: { runningMax: 5 } },
  'keys create': { words: () => [], fields: { name: 'batch', why: 'asked for' } },
  'keys revoke': { words: ({ keyId }) => [keyId], fields: { why: 'leaked' } },
  'keys terms': { words: ({ keyId }) => [keyId], fields: { createRate: '5' } },
  'budgets set': {
    words: ({ accountId }) => [accountId],
    fields: { period: 'month', limit: '500', timeZone: 'Asia/Shanghai' },
  },
  'budgets remove': {
    async words({ accountId }) {
      await admin(`budgets set --account ${accountId} --period month --limit 500`);
      return [accountId];
    },
    fields: { period: 'month' },
  },
  'webhooks rotate': { words: ({ accountId }) => [accountId] },
  'callbacks resend': {
    words: async ({ accountId }) => [
      await aFinalTask(served.database, 'https://hooks.example.com/in', { accountId }),
    ],
  },
  'callbacks resend-failed': {
    words: ({ accountId }) => [accountId],
    fields: { since: '2020-01-31', why: 'the receiver was down' },
  },
  'channels pause': { words: () => ['studio'], fields: { why: 'rotation' } },
  'channels resume': { words: () => ['studio'], fields: { why: 'rotated' } },
  'webhooks test': {
    words: async ({ accountId }) => [
      await aWebhook(served.database.db, accountId, worker.sink.url),
    ],
  },
  'tasks content': {
    words: async (customer) => [await aRunningTask(customer)],
    fields: { why: 'the customer asked' },
  },
  'tasks cancel': {
    words: async (customer) => [await aRunningTask(customer)],
    fields: { why: 'asked by phone' },
  },
  'operators add': { words: () => [], fields: { name: 'zoe', role: 'viewer', why: 'new' } },
  'operators disable': { words: anOperator, fields: { why: 'left' } },
  'operators renew': { words: anOperator, fields: { why: 'lost' } },
};

test('every route that changes something has a call in this test', () => {
  const changing = routes
    .filter(({ command }) => command.changes)
    .map(({ command }) => command.name);
  expect(changing.sort()).toEqual(Object.keys(calls).sort());
});

async function carriedOut(name: string): Promise<{ answer: Answered; customer: Customer }> {
  const customer = await aCustomer();
  const { words, fields = {} } = calls[name]!;
  const [...given] = await words(customer);
  const { method, path } = routes.find(({ command }) => command.name === name)!;
  const filled = path.slice('/admin/v1'.length).replaceAll(/:\w+/g, () => given.shift() ?? '');
  const body = name === 'keys create' ? { ...fields, account: customer.accountId } : fields;
  const query = method === 'DELETE' ? `?${new URLSearchParams({ ...fields }).toString()}` : '';
  return { answer: await served.as('owner', method, `${filled}${query}`, body), customer };
}

test.each(Object.keys(calls))(
  'a call of "%s" leaves one row in the log, and its command runs in a shell',
  async (name) => {
    const known = await acts();
    const { answer } = await carriedOut(name);
    expect([answer.text, answer.status]).toEqual([answer.text, 200]);
    const own = (await acts()).filter(({ via }: { via: string }) => via === 'api');
    const before = known.filter(({ via }: { via: string }) => via === 'api');
    expect(own).toHaveLength(before.length + 1);
    const [row] = own;
    const why = (calls[name]?.fields as { why?: string } | undefined)?.why ?? null;
    expect(row).toMatchObject({ who: 'owner', why, role: 'video_operator' });
    const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${row.command}`], {
      encoding: 'utf8',
    });
    const pasted = printed.split('\0').slice(0, -1);
    const command = adminCommands.find((one) => one.name === name)!;
    const input = readInput(command, pasted.slice(name.split(' ').length));
    expect(input.line).toBe(row.command);
  },
);

test('a call that fails leaves no row in the log', async () => {
  const known = await acts();
  const { accountId } = await aCustomer();
  const made = await acts();
  expect(made).toHaveLength(known.length + 1);
  for (const [path, body, status] of [
    ['/accounts/acct_none/credits', aCredit, 404],
    ['/keys/key_none/revoke', { why: 'x' }, 404],
    [`/tasks/${aTaskId()}/cancel`, { why: 'x' }, 404],
    [`/accounts/${accountId}/corrections`, { ...aCredit, for: 'nobody' }, 400],
  ] as const) {
    expect([path, (await served.as('owner', 'POST', path, body)).status]).toEqual([path, status]);
  }
  expect(await acts()).toEqual(made);
});

describe('while a server is away', () => {
  let cutter: Cutter | undefined;
  let own: TestConsole;
  const ownAdmin = adminWith(() => ({
    ...own.environment,
    DATABASE_URL: own.database.operatorUrl,
  }));
  beforeAll(async () => {
    own = await startConsole({
      // No server listens at this port.
      settings: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      through: async (url) => {
        cutter = await startCutter(url);
        return cutter.url;
      },
    });
  });
  afterAll(async () => {
    await own.close();
    await cutter?.close();
  });
  const aCustomerThere = async (name: string) =>
    (await ownAdmin(`accounts create --name ${name} --credit 100 --json`)).json.accountId as string;

  test('a credit whose commit was not answered is found again by its reference', async () => {
    const path = `/accounts/${await aCustomerThere('one')}/credits`;
    cutter?.cutAt('COMMIT', 'after');
    const lost = await own.as('owner', 'POST', path, aCredit);
    expect(cutter?.hasCut()).toBe(true);
    expect([lost.status, lost.json.error.code]).toEqual([503, 'outcome_unknown']);
    const again = await own.as('owner', 'POST', path, aCredit);
    expect(again.json.data).toMatchObject({ recorded: false, available: '105.000000' });
  });

  test('the log has the text of the error, and the answer has neither SQL nor an address', async () => {
    await aCustomerThere('two');
    cutter?.cutAt('join "balances"', 'before');
    const { status, json } = await own.as('viewer', 'GET', '/accounts');
    expect([status, json.error]).toEqual([
      503,
      { code: 'unavailable', message: expect.not.stringMatching(/select|127\.0/), param: '' },
    ]);
    const lines = own.lines.filter(({ event }) => event === 'console_unavailable');
    expect(JSON.stringify(lines.at(-1))).toContain('balances');
  });

  test('a disabled account whose tasks are not all cancelled is answered as stored', async () => {
    const id = await aCustomerThere('three');
    await openNew(own.database.db, anOpening(id, aTaskId(), 1_000_000));
    const body = { cancel: true, why: 'asked' };
    cutter?.cutAt('finished_at is null order by created_at', 'before');
    const half = await own.as('operator', 'POST', `/accounts/${id}/disable`, body);
    expect(cutter?.hasCut()).toBe(true);
    expect([half.status, half.json.error]).toMatchObject([
      503,
      { code: 'outcome_unknown', message: expect.stringContaining('The change is stored') },
    ]);
    const away = await own.as('operator', 'POST', `/accounts/${id}/disable`, body);
    expect([away.status, away.json.error.code]).toEqual([503, 'unavailable']);
  });
});

test('a credit whose console was killed before its answer moves the money once when it is repeated', async () => {
  const { accountId } = await aCustomer();
  const cutter = await startCutter(served.environment.DATABASE_URL ?? '');
  const [port = 0] = await freePorts(1);
  const killed = startProcess(['console'], {
    ...served.environment,
    ...{ DATABASE_URL: cutter.url, CONSOLE_PORT: String(port) },
  });
  const path = `/accounts/${accountId}/credits`;
  try {
    await until('the process serves', () => {
      if (killed.hasEnded()) throw new Error(`It ended:\n${killed.said()}`);
      return fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    cutter.cutAt('COMMIT', 'after', 1, () => killed.signal('SIGKILL'));
    const headers = {
      ...{ authorization: `Bearer ${served.keys.owner}`, 'content-type': 'application/json' },
    };
    const body = JSON.stringify(aCredit);
    const lost = fetch(`http://127.0.0.1:${port}/admin/v1${path}`, {
      ...{ method: 'POST', headers, body },
    });
    await expect(lost).rejects.toThrow('fetch failed');
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(await available(accountId)).toBe('105.000000');
    const again = await served.as('owner', 'POST', path, aCredit);
    expect(again.json.data).toMatchObject({ recorded: false, available: '105.000000' });
    const credits = await served.database
      .db('transfers')
      .where({ account_id: accountId, kind: 'credit' });
    expect(credits).toHaveLength(2);
  } finally {
    killed.signal('SIGKILL');
    await killed.ended;
    await cutter.close();
  }
});

test('a key is renewed only for an operator who may then use it', async () => {
  const [id] = await anOperator();
  const renew = (more: object = {}) =>
    served.as('owner', 'POST', `/operators/${id}/key`, { why: 'lost', ...more });
  const past = `update operators set expires_at = now() - interval '1 s' where id = ?`;
  await served.database.db.raw(past, [id as string]);
  const expired = await renew();
  expect([expired.status, expired.json.error.code]).toEqual([409, 'not_so']);
  const early = await renew({ expires: '2020-01-31' });
  expect([early.status, early.json.error.param]).toEqual([400, 'expires']);
  const { json } = await renew({ expires: '2999-01-31' });
  const authorization = `Bearer ${json.data.key}`;
  expect((await served.call('GET', '/admin/v1/me', { authorization })).status).toBe(200);
  await admin(`operators disable ${id}`);
  const disabled = await renew({ expires: '2999-01-31' });
  expect([disabled.status, disabled.json.error.code]).toEqual([409, 'not_so']);
});

test('neither the log of the process nor that of operators has a key, a secret or a cookie', async () => {
  const { answer: made } = await carriedOut('keys create');
  const { answer: rotated } = await carriedOut('webhooks rotate');
  const secrets = [
    ...Object.values(served.keys),
    made.json.data.apiKey,
    rotated.json.data.webhookSecret,
  ];
  const { rows } = await served.database.db.raw(
    'select operator_log::text as text from operator_log',
  );
  const texts = [
    ...served.lines.map((line) => JSON.stringify(line)),
    ...rows.map((row: { text: string }) => row.text),
  ].join('\n');
  expect(texts.length).toBeGreaterThan(1_000);
  expect(secrets.filter((secret: string) => texts.includes(secret.slice(4, -4)))).toEqual([]);
  expect(texts).not.toMatch(/(vo|vk|whsec)_[0-9A-Za-z]{8}/);
});
