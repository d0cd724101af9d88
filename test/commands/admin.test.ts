// The operator's command line, run in this process against a real database and, where it needs one,
// a real engine.

import { Connection } from '@temporalio/client';
import { adminCommands, runAdmin } from '../../src/commands/admin';
import { readConfig } from '../../src/config';
import { findKeyByDigest } from '../../src/db/accounts';
import { digestKey } from '../../src/db/api-keys';
import { closeTask, openTask } from '../../src/db/ledger';
import { activeSecrets } from '../../src/db/webhook-secrets';
import { callbackWorkflowId } from '../../workflows/messages';
import { aClosing, anOpening } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';

const pepper = 'a pepper for tests';
const taskQueue = uniqueTaskQueue();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Said {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  // biome-ignore lint/suspicious/noExplicitAny: every command has its own shape; a wrong guess fails the expectation
  readonly json: any;
}

async function admin(line: string | readonly string[], over: object = {}): Promise<Said> {
  const said = { out: '', err: '' };
  const config = readConfig('admin', {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_TASK_QUEUE: taskQueue,
    API_KEY_PEPPER: pepper,
    STUDIO_URL: 'http://127.0.0.1:1',
    ...over,
  });
  const exitCode = await runAdmin(config, typeof line === 'string' ? line.split(' ') : line, {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return {
    exitCode,
    ...said,
    get json() {
      return JSON.parse(said.out);
    },
  };
}

async function anAccount(credit?: string): Promise<string> {
  const words = ['accounts', 'create', '--name', 'a customer', '--json'];
  const { json } = await admin(credit ? [...words, '--credit', credit] : words);
  return json.accountId;
}

describe('accounts', () => {
  test('a new one has a key that works, a secret that signs, and its opening credit', async () => {
    const { exitCode, json } = await admin([
      ...['accounts', 'create', '--name', 'Müller & Söhne', '--credit', '100.00', '--json'],
    ]);
    expect(exitCode).toBe(0);
    expect(Object.keys(json)).toEqual(['accountId', 'apiKey', 'webhookSecret']);
    const found = await findKeyByDigest(database.db, digestKey(pepper, json.apiKey));
    expect(found).toMatchObject({ accountId: json.accountId, revokedAt: null });
    expect(await activeSecrets(database.db, json.accountId)).toEqual([json.webhookSecret]);
    const { json: shown } = await admin(`accounts show ${json.accountId} --json`);
    expect(shown).toMatchObject({
      name: 'Müller & Söhne',
      available: '100.000000',
      held: '0.000000',
      currency: 'CNY',
      openTasks: 0,
      disabledAt: null,
    });
  });

  test('the list is a table for people, with numbers standing right', async () => {
    const accountId = await anAccount('7.5');
    const { out } = await admin('accounts list');
    const [heading = '', ...lines] = out.trimEnd().split('\n');
    expect(heading).toMatch(/^ACCOUNT +NAME +AVAILABLE +HELD +OPEN TASKS +CREATED +DISABLED$/);
    const line = lines.find((text) => text.startsWith(accountId)) ?? '';
    const end = heading.indexOf('AVAILABLE') + 'AVAILABLE'.length;
    expect(line.slice(0, end)).toMatch(/ 7\.500000$/);
    expect(line).toMatch(/ \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +-$/);
  });

  test('a credit with the same reference is recorded once', async () => {
    const id = await anAccount();
    const line = `accounts credit ${id} 12.345678 --reference invoice-7 --reason top-up --json`;
    expect(await admin(line)).toMatchObject({ exitCode: 0, json: { recorded: true } });
    const again = await admin(line);
    expect(again.json).toMatchObject({
      recorded: false,
      amount: '12.345678',
      available: '12.345678',
    });
    const other = await admin(`accounts credit ${id} 99 --reference invoice-7`);
    expect(other.exitCode).toBe(1);
    expect(other.err).toContain('recorded with another amount; nothing was moved');
    const { json } = await admin(`statement ${id} --json`);
    expect(json.movements).toEqual([
      expect.objectContaining({ number: 1, kind: 'credit', change: '12.345678', reason: 'top-up' }),
    ]);
  });

  test('a correction goes to the customer or to the house, once per reference, also below zero', async () => {
    const id = await anAccount();
    const correct = (words: string) =>
      admin(`accounts correct ${id} ${words} --reason mistake --json`);
    expect((await correct('5 --for customer --reference case-1')).json.available).toBe('5.000000');
    const taken = await correct('7.5 --for house --reference case-2');
    expect(taken.json).toMatchObject({ amount: '-7.500000', available: '-2.500000' });
    expect((await correct('7.5 --for house --reference case-2')).json.recorded).toBe(false);
    expect((await correct('7.5 --for customer --reference case-2')).exitCode).toBe(1);
    expect((await correct('-1 --for house --reference case-3')).exitCode).toBe(2);
    const { json } = await admin(`statement ${id} --json`);
    expect(json.movements).toMatchObject([
      { kind: 'correction', amount: '7.500000', change: '-7.500000', reason: 'mistake' },
      { kind: 'correction', amount: '5.000000', change: '5.000000', reason: 'mistake' },
    ]);
    expect((await admin('audit')).exitCode).toBe(0);
  });

  test('an account whose books are in another currency is not credited in ours', async () => {
    const id = await anAccount();
    await database.db.raw(`update balances set currency = 'USD' where account_id = ?`, [id]);
    const { exitCode, err } = await admin(`accounts credit ${id} 1`);
    expect(exitCode).toBe(1);
    expect(err).toContain('are in another; nothing was moved');
  });

  test('credits without a reference are each recorded', async () => {
    const id = await anAccount();
    await admin(`accounts credit ${id} 1`);
    expect((await admin(`accounts credit ${id} 1 --json`)).json.available).toBe('2.000000');
  });

  test.each([
    ['-5', 'negative'],
    ['-0.000001', 'negative'],
    ['0', 'nothing'],
    ['0.0000001', 'more than six decimal places'],
    ['9007199254.740992', 'too large'],
    ['1e3', 'is not an amount'],
    ['NaN', 'is not an amount'],
    ['Infinity', 'is not an amount'],
    ['1,5', 'is not an amount'],
    ['1_000', 'is not an amount'],
    ['', 'is not an amount'],
    ['100 USD', 'in another currency; the books are in CNY'],
    ['EUR 100', 'in another currency'],
  ])('an amount of "%s" is refused: %s', async (amount, reason) => {
    const id = await anAccount();
    const credit = await admin(['accounts', 'credit', id, amount, '--reference', 'r']);
    expect(credit).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining(reason) });
    const before = (await admin('accounts list --json')).json.length;
    const created = await admin(['accounts', 'create', '--name', 'x', '--credit', amount]);
    expect(created).toMatchObject({ exitCode: 2, err: expect.stringContaining(reason) });
    expect((await admin('accounts list --json')).json).toHaveLength(before);
    expect((await admin(`statement ${id} --json`)).json.movements).toEqual([]);
  });

  test('an amount may name our own currency', async () => {
    const id = await anAccount();
    const { json } = await admin(['accounts', 'credit', id, '3.50 CNY', '--json']);
    expect(json.available).toBe('3.500000');
  });

  test('a balance that no number could hold exactly is refused', async () => {
    const id = await anAccount('9007199254.740991');
    const { exitCode, err } = await admin(`accounts credit ${id} 0.000001`);
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('larger than the books can hold'),
    });
    expect((await admin(`accounts show ${id} --json`)).json.available).toBe('9007199254.740991');
  });

  test('a disabled account says since when, and is enabled again', async () => {
    const id = await anAccount();
    const { disabledAt } = (await admin(`accounts disable ${id} --json`)).json;
    expect(Date.parse(disabledAt)).toBeGreaterThan(0);
    // Disabled again it keeps the first time.
    expect((await admin(`accounts disable ${id} --json`)).json.disabledAt).toBe(disabledAt);
    expect((await admin(`accounts enable ${id} --json`)).json.disabledAt).toBeNull();
  });
});

describe('keys', () => {
  test('a key is shown once, is listed by its end, and can be revoked', async () => {
    const account = await anAccount();
    const { json } = await admin(
      `keys create --account ${account} --name batch --models studio-2.0 --channels studio ` +
        '--expires 2999-01-31 --json',
    );
    expect(Object.keys(json)).toEqual(['keyId', 'apiKey']);
    const { out, json: keys } = await admin(`keys list --account ${account} --json`);
    expect(out).not.toContain(json.apiKey);
    expect(keys).toHaveLength(2);
    expect(keys[1]).toMatchObject({
      keyId: json.keyId,
      name: 'batch',
      lastFour: json.apiKey.slice(-4),
      models: ['studio-2.0'],
      channels: ['studio'],
      expiresAt: '2999-01-31T00:00:00.000Z',
      revokedAt: null,
    });
    expect((await admin(`keys revoke ${json.keyId}`)).exitCode).toBe(0);
    const found = await findKeyByDigest(database.db, digestKey(pepper, json.apiKey));
    expect(found?.revokedAt).toBeInstanceOf(Date);
  });

  test.each([
    ['--expires tomorrow', 2, 'is a day such as'],
    ['--expires 2999-02-30', 2, 'is a day such as'],
    ['--expires 2999-13-01', 2, 'is a day such as'],
    ['--expires 2020-01-01', 2, 'has passed already'],
    ['--models studio-2.0,nonsense', 2, 'no model "nonsense"'],
    ['--models ,', 2, 'names at least one'],
    ['--channels nonsense', 2, 'no channel "nonsense"'],
  ])('%s makes no key', async (words, exitCode, reason) => {
    const account = await anAccount();
    const said = await admin(`keys create --account ${account} ${words}`);
    expect(said).toMatchObject({ exitCode, err: expect.stringContaining(reason) });
    expect((await admin(`keys list --account ${account} --json`)).json).toHaveLength(1);
  });
});

describe('tasks', () => {
  test('one is shown with its object, and the list is filtered', async () => {
    const account = await anAccount('10');
    const [first, second] = [aTaskId(), aTaskId()];
    await openTask(database.db, anOpening(account, first, 1_000_000));
    await openTask(database.db, anOpening(account, second, 1_000_000));
    await closeTask(database.db, aClosing(second, 1_000_000, null));
    const { json } = await admin(`tasks show ${second} --json`);
    expect(json).toMatchObject({
      taskId: second,
      accountId: account,
      status: 'failed',
      callback: null,
      jobs: [],
      task: { id: second, error: { code: 'task_error' } },
    });
    const { json: open } = await admin(`tasks list --account ${account} --status submitted --json`);
    expect(open.map(({ taskId }: { taskId: string }) => taskId)).toEqual([first]);
    const { out } = await admin(`tasks show ${second}`);
    expect(out).toMatch(/^taskId +task_/);
  });

  test('one is found by the id of its job upstream', async () => {
    const account = await anAccount('10');
    const id = aTaskId();
    await openTask(database.db, anOpening(account, id, 1_000_000));
    await database.db('jobs').insert({
      task_id: id,
      kind: 'generation',
      account_id: account,
      channel: 'studio',
      upstream_model: 'studio-2.0',
      state: 'open',
      upstream_id: 'cgt-findable',
    });
    const { json } = await admin('tasks show cgt-findable --json');
    expect(json).toMatchObject({ taskId: id, jobs: [{ upstreamId: 'cgt-findable' }] });
  });

  test('a finished one, and one whose workflow is gone, are not cancelled', async () => {
    const account = await anAccount('10');
    const [final, lost] = [aTaskId(), aTaskId()];
    await openTask(database.db, anOpening(account, final, 1_000_000));
    await closeTask(database.db, aClosing(final, 1_000_000, null));
    await openTask(database.db, anOpening(account, lost, 1_000_000));
    expect(await admin(`tasks cancel ${final}`)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('has finished already'),
    });
    expect(await admin(`tasks cancel ${lost}`)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('has lost its workflow'),
    });
    expect(await admin(`tasks cancel ${aTaskId()}`)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('There is no task'),
    });
  });

  test('without an engine a cancel says so', async () => {
    const account = await anAccount('10');
    const open = aTaskId();
    await openTask(database.db, anOpening(account, open, 1_000_000));
    const away = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
    expect(await admin(`tasks cancel ${open}`, away)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('Temporal does not answer'),
    });
    expect(await admin(`tasks cancel ${open}`, { TEMPORAL_ADDRESS: '' })).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('TEMPORAL_ADDRESS is not set'),
    });
  });
});

describe('callbacks', () => {
  test('they are listed by state and shown with their attempts', async () => {
    const account = await anAccount();
    const task = await aFinalTask(database, 'https://hooks.example.com/in?token=secret', {
      accountId: account,
    });
    const { json } = await admin(`callbacks list --account ${account} --state pending --json`);
    expect(json).toEqual([expect.objectContaining({ taskId: task, deliveries: 1 })]);
    expect((await admin(`callbacks list --account ${account} --state exhausted`)).out).toBe(
      'None.\n',
    );
    expect((await admin(`callbacks show ${task} --json`)).json).toMatchObject({ attempts: [] });
    const { out } = await admin(`callbacks show ${task}`);
    expect(out).toContain('https://hooks.example.com/in?…');
    expect(out).not.toContain('secret');
  });

  test('sending again starts another delivery of the same message', async () => {
    const task = await aFinalTask(database, 'https://hooks.example.com/in', {
      accountId: await anAccount(),
    });
    const { exitCode, json } = await admin(`callbacks resend ${task} --json`);
    expect({ exitCode, json }).toEqual({
      exitCode: 0,
      json: { taskId: task, delivery: 2, webhookId: `${task}:succeeded` },
    });
    const connection = await Connection.connect({ address: temporalAddress() });
    const execution = { workflowId: callbackWorkflowId(task, 2) };
    const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
      namespace: 'default',
      execution,
    });
    expect(workflowExecutionInfo?.taskQueue).toBe(taskQueue);
    await connection.workflowService.terminateWorkflowExecution({
      namespace: 'default',
      workflowExecution: execution,
    });
    await connection.close();
  });

  test('there is nothing to send for an unfinished task, or one that asked for none', async () => {
    const accountId = await anAccount();
    const running = await aFinalTask(database, 'https://a.example', { accountId, final: false });
    const silent = await aFinalTask(database, null, { accountId });
    expect((await admin(`callbacks resend ${running}`)).err).toContain('is not finished');
    expect((await admin(`callbacks resend ${silent}`)).err).toContain('asked for no callback');
    expect((await admin(`callbacks show ${aTaskId()}`)).err).toContain('There is no task');
  });

  test('a rotated secret signs at once, the old one beside it for the overlap', async () => {
    const account = await anAccount();
    const [old] = await activeSecrets(database.db, account);
    const { json } = await admin(`webhooks rotate ${account} --overlap 1h --json`);
    expect(json.webhookSecret).not.toBe(old);
    expect(await activeSecrets(database.db, account)).toEqual([json.webhookSecret, old]);
    const { json: last } = await admin(`webhooks rotate ${account} --overlap 0 --json`);
    expect(await activeSecrets(database.db, account)).toEqual([last.webhookSecret]);
    expect((await admin(`webhooks rotate ${account} --overlap 31d`)).exitCode).toBe(2);
  });
});

describe('the books', () => {
  test('the audit ends with 1 and prints what differs', async () => {
    const own = await createTestDatabase();
    try {
      const over = { DATABASE_URL: own.url };
      const { json } = await admin('accounts create --name a --credit 5 --json', over);
      expect(await admin('audit', over)).toMatchObject({
        exitCode: 0,
        out: 'The books agree: 1 accounts, 1 movements.\n',
      });
      await own.db.raw('update balances set available = available + 1');
      const wrong = await admin('audit --json', over);
      expect(wrong.exitCode).toBe(1);
      expect(wrong.json.differences).toEqual([
        expect.objectContaining({
          subject: json.accountId,
          found: expect.stringContaining('kept'),
        }),
      ]);
      expect((await admin('audit', over)).out).toContain('The books do not agree');
    } finally {
      await own.drop();
    }
  });

  test('a statement is paged by the number of its last movement', async () => {
    const id = await anAccount('1');
    await admin(`accounts credit ${id} 2`);
    await admin(`accounts credit ${id} 3`);
    const numbers = async (words: string) =>
      (await admin(`statement ${id} ${words} --json`)).json.movements.map(
        ({ number }: { number: number }) => number,
      );
    expect(await numbers('--limit 2')).toEqual([3, 2]);
    expect(await numbers('--limit 2 --after 2')).toEqual([1]);
  });
});

describe('the schema', () => {
  test('migrate may be repeated', async () => {
    const { exitCode, json } = await admin('migrate --json');
    expect({ exitCode, json }).toEqual({ exitCode: 0, json: { applied: [], temporal: true } });
  });

  test('a newer schema is refused by every command, and nothing is changed', async () => {
    const own = await createTestDatabase();
    try {
      await own.db('schema_migrations').insert({ name: '9999_from_the_future' });
      const over = { DATABASE_URL: own.url };
      for (const line of ['migrate', 'accounts list', 'accounts create --name x']) {
        expect(await admin(line, over)).toMatchObject({
          exitCode: 1,
          err: expect.stringContaining('newer schema'),
        });
      }
      expect(await own.db('accounts')).toEqual([]);
    } finally {
      await own.drop();
    }
  });

  test('an empty database is told from a wrong one', async () => {
    const own = await createTestDatabase();
    try {
      await own.db.raw('drop table schema_migrations');
      const { exitCode, err } = await admin('accounts list', { DATABASE_URL: own.url });
      expect({ exitCode, err }).toMatchObject({
        exitCode: 1,
        err: expect.stringContaining('migrate'),
      });
    } finally {
      await own.drop();
    }
  });
});

describe('wrong use', () => {
  test.each([
    ['nonsense', 2, 'There is no command "nonsense"'],
    ['accounts', 2, 'accounts create'],
    ['accounts nonsense', 2, 'There is no command "accounts nonsense"'],
    ['accounts create', 2, '--name must be given'],
    ['accounts create --name', 2, '--name needs NAME'],
    ['accounts create --name a --name b', 2, '--name is given twice'],
    ['accounts create --nam a', 2, 'There is no option --nam'],
    ['accounts show', 2, 'ID must be given'],
    ['accounts show a b', 2, '"b" is one word too many'],
    ['accounts show acct_none', 1, 'There is no account acct_none'],
    ['accounts credit acct_none 1', 1, 'There is no account acct_none'],
    ['accounts correct a 1 --reference r --reason x', 2, '--for must be given'],
    [
      'accounts correct a 1 --for me --reference r --reason x',
      2,
      '--for is one of customer, house',
    ],
    ['accounts disable acct_none', 1, 'There is no account acct_none'],
    ['accounts enable acct_none', 1, 'There is no account acct_none'],
    ['keys create --account acct_none', 1, 'There is no account acct_none'],
    ['keys list --account acct_none', 1, 'There is no account acct_none'],
    ['keys revoke key_none', 1, 'There is no key key_none'],
    ['tasks show task_none', 1, 'There is no task task_none'],
    ['tasks list --status done', 2, '--status is one of pending, submitted'],
    ['tasks list --limit 0', 2, '--limit is a whole number from 1 to 10000'],
    ['statement acct_none', 1, 'There is no account acct_none'],
    ['callbacks list --state open', 2, '--state is one of pending, delivered'],
    ['webhooks rotate acct_none', 1, 'There is no account acct_none'],
  ])('"%s" ends with %i: %s', async (line, exitCode, reason) => {
    const said = await admin(line);
    expect(said).toMatchObject({ exitCode, out: '', err: expect.stringContaining(reason) });
    const asJson = await admin(`${line} --json`);
    expect(asJson.exitCode).toBe(exitCode);
    expect(asJson.json).toEqual({ error: expect.stringContaining(reason), exitCode });
  });

  test('a database that is not there is named in one sentence', async () => {
    const { exitCode, err } = await admin('accounts list', {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    });
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(
        /^The database at 127\.0\.0\.1:1\/none \(DATABASE_URL\) does not answer: .*ECONNREFUSED.*\n$/,
      ),
    });
  });

  test('a missing setting is named', async () => {
    const { exitCode, err } = await admin('accounts list', { DATABASE_URL: '' });
    expect({ exitCode, err }).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('DATABASE_URL is not set'),
    });
  });
});

describe('help', () => {
  test('there is some for everything, for each group and for each command', async () => {
    const { exitCode, out } = await admin('help');
    expect(exitCode).toBe(0);
    for (const { name } of adminCommands) {
      expect(out).toContain(`  ${name}`);
      const [group = ''] = name.split(' ');
      expect((await admin(`${group} --help`)).out).toContain(name);
      const own = await admin(`${name} --help`);
      expect(own).toMatchObject({ exitCode: 0, out: expect.stringContaining(`admin ${name}`) });
      expect((await admin(`help ${name}`)).out).toBe(own.out);
      expect((await admin(`${name} --help --json`)).json.command).toBe(name);
    }
  });

  test('none is a wrong use that shows it', async () => {
    expect(await admin([])).toMatchObject({
      exitCode: 2,
      out: '',
      err: expect.stringContaining('accounts create'),
    });
  });
});
