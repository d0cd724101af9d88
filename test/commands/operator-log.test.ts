// Tests the log of operators. Each command that changes something writes a row in the transaction
// of its change. Any other command cannot write to the database.

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { adminCommands } from '../../src/commands/admin';
import { runCommand } from '../../src/commands/admin/run-command';
import { readConfig } from '../../src/config/config';
import { openDirectory } from '../../src/files/storage/directory';
import { adminWith } from '../support/admin';
import { anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { theCatalogue } from '../support/catalogue';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { plantFile } from '../support/files';
import { connectTemporal, temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { aWebhook, startWebhookWorker, type WebhookWorker } from '../support/webhook-worker';

const taskQueue = uniqueTaskQueue();
let database: TestDatabase;
let folder: string;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
let worker: WebhookWorker;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'video-log-'));
  await openDirectory(folder);
  temporal = await connectTemporal();
  worker = await startWebhookWorker(database, taskQueue);
});
afterAll(async () => {
  await worker.close();
  await temporal.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const admin = adminWith(() => ({
  DATABASE_URL: database.operatorUrl,
  TEMPORAL_ADDRESS: temporalAddress(),
  TEMPORAL_TASK_QUEUE: taskQueue,
  STUDIO_URL: 'http://127.0.0.1:1',
  STORAGE_DIR: folder,
}));

async function acts(accountId?: string) {
  const { json } = await admin(
    `log --limit 1000 --json${accountId ? ` --account ${accountId}` : ''}`,
  );
  return json as Record<string, unknown>[];
}

interface Customer {
  readonly accountId: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly keyId: string;
}

async function aCustomer(): Promise<Customer> {
  const { json } = await admin('accounts create --name Acme --credit 100 --json');
  const { json: keys } = await admin(`keys list --account ${json.accountId} --json`);
  return { ...json, keyId: keys[0].keyId };
}

async function aRunningTask({ accountId }: Customer): Promise<string> {
  const taskId = aTaskId();
  await openNew(database.db, anOpening(accountId, taskId, 1_000_000));
  const options = { taskQueue, workflowId: taskId, args: [] };
  await temporal.client.workflow.start('generateVideo', options);
  return taskId;
}

async function aFile({ accountId }: Customer): Promise<string> {
  const storage = await openDirectory(folder);
  return (await plantFile({ db: database.db, storage, accountId }, Buffer.alloc(10))).id;
}

let people = 0;

function aName(): string {
  people += 1;
  return `ann-${people}`;
}

async function anOperator(): Promise<string> {
  return (await admin(`operators add --name ${aName()} --role owner --json`)).json.operatorId;
}

const [aChannel = ''] = Object.keys(theCatalogue().channels);

interface Example {
  /** The words after the command's name. */
  readonly words: (customer: Customer) => string | Promise<string>;
  /** What the row says that the command has changed. */
  readonly effect: RegExp;
  /** The number of rows that the command writes; absent if it writes one row. */
  readonly rows?: number;
}

const examples: Readonly<Record<string, Example>> = {
  'accounts create': {
    words: () => '--name Other --credit 5',
    effect: /^acct_\w+ with key_\w+: available 0\.000000 → 5\.000000 CNY$/,
  },
  'accounts credit': {
    words: ({ accountId }) => `${accountId} 12.5 --reference invoice-7`,
    effect: /^12\.500000 CNY: available 100\.000000 → 112\.500000$/,
  },
  'accounts correct': {
    words: ({ accountId }) => `${accountId} 1 --for house --reference case-1 --reason mistake`,
    effect: /^-1\.000000 CNY: available 100\.000000 → 99\.000000$/,
  },
  'accounts disable': {
    words: ({ accountId }) => `${accountId} --cancel`,
    effect: /^enabled → disabled; its unfinished tasks are cancelled next$/,
  },
  'accounts enable': {
    words: ({ accountId }) => accountId,
    effect: /^enabled; nothing was changed$/,
  },
  'accounts erase': {
    words: ({ accountId }) => accountId,
    rows: 2,
    effect: /^erased; tasks 0, results 0, uploads 0$/,
  },
  'accounts terms': {
    words: ({ accountId }) => `${accountId} --running-max 5`,
    effect: /^running-max none → 5$/,
  },
  'keys create': {
    words: ({ accountId }) => `--account ${accountId} --name batch`,
    effect: /^key_\w+$/,
  },
  'keys revoke': { words: ({ keyId }) => keyId, effect: /^valid → revoked$/ },
  'keys terms': {
    words: ({ keyId }) => `${keyId} --create-rate 5`,
    effect: /^create-rate none → 5$/,
  },
  'budgets set': {
    words: ({ accountId }) => `--account ${accountId} --period month --limit 500`,
    effect: /^limit none → 500\.000000$/,
  },
  'budgets remove': {
    async words({ accountId }) {
      await admin(`budgets set --account ${accountId} --period month --limit 500`);
      return `--account ${accountId} --period month`;
    },
    effect: /^limit 500\.000000 → none$/,
  },
  'webhooks rotate': {
    words: ({ accountId }) => accountId,
    effect: /^a new secret; the older ones sign until \d{4}-\S+$/,
  },
  'callbacks resend': {
    words: ({ accountId }) => aFinalTask(database, 'https://hooks.example.com/in', { accountId }),
    effect: /^delivery 2 begins$/,
  },
  'callbacks resend-failed': {
    async words({ accountId }) {
      const task = await aFinalTask(database, 'https://hooks.example.com/in', { accountId });
      await database.db('callbacks').where({ task_id: task }).update({ state: 'exhausted' });
      return `--account ${accountId} --since 2020-01-31`;
    },
    effect: /^deliveries begin: 1; without a webhook: 0$/,
  },
  'webhooks test': {
    words: ({ accountId }) => aWebhook(database.db, accountId, worker.sink.url),
    effect: /^a test message is sent next$/,
  },
  'channels pause': { words: () => aChannel, effect: /^\S+ is paused$/ },
  'channels resume': { words: () => aChannel, effect: /^\S+ (takes jobs again|is not paused)$/ },
  'files remove': { words: aFile, effect: /^stored → removed$/ },
  'operators add': {
    words: () => `--name ${aName()} --role viewer`,
    effect: /^oper_\w+ as viewer$/,
  },
  'operators disable': { words: anOperator, effect: /^enabled → disabled$/ },
  'operators renew': { words: anOperator, effect: /^key …\w{4} → …\w{4}$/ },
  'tasks content': { words: aRunningTask, effect: /^its content was shown$/ },
  'tasks cancel': { words: aRunningTask, effect: /^its workflow is asked to cancel it$/ },
  'usage rebuild': {
    words: () => '',
    effect: /^usage of all days is derived anew, in UTC$/,
  },
  'reconcile lost': {
    words: () => '--hours 3',
    effect: /^confirmed until \d{4}-\S+$/,
  },
};

test('every command that changes something has an example in this test', () => {
  const changing = adminCommands.filter(({ changes }) => changes).map(({ name }) => name);
  expect(changing.sort()).toEqual(Object.keys(examples).sort());
});

test.each(Object.entries(examples))(
  'the command "%s" is logged with the operator, the command and the reason',
  async (name, example) => {
    const customer = await aCustomer();
    const words = await example.words(customer);
    const known = await acts();
    const typed = `${name} ${words}`.trim();
    const line = [...`${typed} --as anna --json`.split(' '), '--why', 'as agreed by phone'];
    expect((await admin(line)).exitCode).toBe(0);
    const [row, ...others] = await acts();
    expect(others.slice((example.rows ?? 1) - 1)).toEqual(known);
    expect(row).toMatchObject({
      who: 'anna',
      role: 'video_operator',
      command: typed,
      why: 'as agreed by phone',
      effect: expect.stringMatching(example.effect),
    });
    const ofNone = /^(accounts create|channels |reconcile lost|usage rebuild|operators )/.test(
      name,
    );
    if (!ofNone) expect(row?.accountId).toBe(customer.accountId);
  },
);

test.each([
  ['accounts credit ACCOUNT 5 --reference r-1', 'nothing was moved: r-1 was recorded before'],
  [
    'accounts correct ACCOUNT 5 --for customer --reference r-2 --reason r',
    'nothing was moved: r-2 was recorded before',
  ],
  ['accounts disable ACCOUNT', 'disabled; nothing was changed'],
  ['accounts terms ACCOUNT --queued-max 7', 'nothing was changed'],
  ['keys terms KEY --read-rate 7', 'nothing was changed'],
  ['keys revoke KEY', 'revoked; nothing was changed'],
  ['budgets set --account ACCOUNT --period day --limit 9', 'nothing was changed'],
])('a repeated `%s` has a row that says that nothing was changed', async (line, effect) => {
  const { accountId, keyId } = await aCustomer();
  const typed = line.replace('ACCOUNT', accountId).replace('KEY', keyId);
  expect((await admin(typed)).exitCode).toBe(0);
  const [first] = await acts(accountId);
  expect(first?.effect).not.toContain('nothing');
  expect((await admin(typed)).exitCode).toBe(0);
  expect(await acts(accountId)).toMatchObject([{ effect }, first as object, {}]);
});

test('the log of operators contains no secret', async () => {
  const customer = await aCustomer();
  const { json: key } = await admin(`keys create --account ${customer.accountId} --json`);
  const { json: rotated } = await admin(`webhooks rotate ${customer.accountId} --json`);
  const { json: operator } = await admin('operators add --name zoe --role owner --json');
  const { json: renewed } = await admin('operators renew zoe --json');
  // Somebody names the key itself in a reason, and gives it as a name.
  await admin(['keys', 'revoke', key.keyId, '--why', `${key.apiKey} has leaked`]);
  const paste = [customer.accountId, '1', '--reference', renewed.key, '--reason', 'a credit'];
  await admin(['accounts', 'credit', ...paste, '--why', rotated.webhookSecret]);
  const { rows } = await database.db.raw('select operator_log::text as text from operator_log');
  const log = rows.map(({ text }: { text: string }) => text).join('\n');
  expect(log).toContain(customer.accountId);
  expect(log).toContain(`…${key.apiKey.slice(-4)} has leaked`);
  expect(log).toContain(`--reference …${renewed.key.slice(-4)} --reason 'a credit'`);
  for (const secret of [
    customer.apiKey,
    customer.webhookSecret,
    key.apiKey,
    rotated.webhookSecret,
    operator.key,
    renewed.key,
  ]) {
    expect(log).not.toContain(secret.slice(4, -4));
  }
});

test('the log row names the login of the operator if `--as` is absent', async () => {
  const { accountId } = await aCustomer();
  expect(await acts(accountId)).toMatchObject([{ who: userInfo().username, why: null }]);
});

test.each([
  ['paid by hand', "--reason 'paid by hand'"],
  [`Bob's "$(touch x)" \`x\``, `--reason 'Bob'\\''s "$(touch x)" \`x\`'`],
  ['--late', '--reason=--late'],
])('a shell reads the reason %p of a logged command as it was given', async (reason, logged) => {
  const { accountId } = await aCustomer();
  await admin(['accounts', 'credit', accountId, '1', `--reason=${reason}`]);
  const [row] = await acts(accountId);
  expect(row?.command).toBe(`accounts credit ${accountId} 1 ${logged}`);
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${row?.command as string}`], {
    encoding: 'utf8',
  });
  expect((await admin(words.split('\0').slice(0, -1))).exitCode).toBe(0);
  const { json } = await admin(`statement ${accountId} --json`);
  expect(json.movements.map((movement: { reason: string }) => movement.reason)).toEqual(
    expect.arrayContaining([reason]),
  );
});

test('a command that fails or only shows data writes no log row', async () => {
  const { accountId, keyId } = await aCustomer();
  const known = await acts();
  const { exitCode } = await admin(
    `accounts correct ${accountId} 1 --for nobody --reference r --reason r`,
  );
  expect(exitCode).toBe(2);
  expect((await admin(`budgets remove --account ${accountId} --period day`)).exitCode).toBe(1);
  expect((await admin(`tasks cancel ${aTaskId()}`)).exitCode).toBe(1);
  expect((await admin(`accounts terms ${accountId}`)).exitCode).toBe(0);
  expect((await admin(`keys terms ${keyId}`)).exitCode).toBe(0);
  expect(await acts()).toEqual(known);
});

test('a change is rolled back if its log row cannot be written', async () => {
  const own = await createTestDatabase(1);
  try {
    const over = { DATABASE_URL: own.operatorUrl };
    const { json } = await admin('accounts create --name a --json', over);
    await own.db.raw('revoke insert on operator_log from video_operator');
    await expect(admin(`accounts credit ${json.accountId} 5`, over)).rejects.toThrow(
      'operator_log',
    );
    const shown = await admin(`accounts show ${json.accountId} --json`, over);
    expect(shown.json.available).toBe('0.000000');
  } finally {
    await own.drop();
  }
});

test('a command that does not declare its changes cannot write to the database', async () => {
  const config = readConfig('admin', { DATABASE_URL: database.operatorUrl });
  const forgetful = {
    name: 'forgetful',
    about: 'disables every account',
    run: ({ db }: { db: () => TestDatabase['db'] }) =>
      db().raw('update accounts set disabled_at = now()'),
  };
  const input = { operand: () => '', option: () => undefined, flag: () => false, line: '' };
  await expect(runCommand(config, forgetful as never, input)).rejects.toMatchObject({
    cause: {
      message: expect.stringContaining('cannot execute UPDATE in a read-only transaction'),
    },
  });
});

test.each([
  `update operator_log set who = 'somebody else'`,
  'delete from operator_log',
  'truncate operator_log',
])('the owner of the database cannot change the log of operators: %s', async (statement) => {
  await aCustomer();
  await expect(database.db.raw(statement)).rejects.toThrow('operator_log are never changed');
});

test('`admin log` prints a table with one line per row, up to the limit', async () => {
  const { accountId } = await aCustomer();
  await admin([`accounts`, 'terms', accountId, '--running-max', '3', '--why', 'a\tnew contract']);
  await admin(`accounts terms ${accountId} --running-max 3`);
  expect((await admin('log --account acct_misspelt')).exitCode).toBe(1);
  const { out } = await admin(`log --account ${accountId} --limit 1`);
  expect(out).toMatch(/^NUMBER +AT +WHO +ACT +EFFECT +ACCOUNT +NAME +WHY +VIA\n/);
  expect(out.trimEnd().split('\n')).toHaveLength(2);
});
