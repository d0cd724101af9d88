// Runs the admin commands in the process of the test, with a real database and a real Temporal
// server.

import { Client, Connection } from '@temporalio/client';
import { gatheredFindKey } from '../../src/accounts/accounts.rows';
import { setBudget } from '../../src/accounts/budgets.rows';
import { createKey, digestKey, makeApiKey, setManagesKeys } from '../../src/accounts/keys.rows';
import { makeOwnKey } from '../../src/accounts/own-keys.rows';
import { createWebhook, deleteWebhook } from '../../src/callbacks/webhooks.rows';
import { adminCommands } from '../../src/commands/admin';
import { connect } from '../../src/database/database';
import { gatheredAtOnce } from '../../src/database/gathered';
import { storeRejected } from '../../src/jobs/steps.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { isLossConfirmed } from '../../src/tasks/reconcile.rows';
import { adminWith } from '../support/admin';
import { aClosing, anOpening, openNew, storePending } from '../support/books';
import { aRequest, aTaskId } from '../support/builders';
import { activeSecrets, aFinalTask, dueCallbacks } from '../support/callbacks';
import { startCutter } from '../support/cutter';
import { createTestDatabase, statementsWaiting, type TestDatabase } from '../support/database';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

const taskQueue = uniqueTaskQueue();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const admin = adminWith(() => ({
  DATABASE_URL: database.operatorUrl,
  TEMPORAL_ADDRESS: temporalAddress(),
  TEMPORAL_TASK_QUEUE: taskQueue,
  STUDIO_URL: 'http://127.0.0.1:1',
}));

async function anAccount(credit?: string): Promise<string> {
  const words = ['accounts', 'create', '--name', 'a customer', '--json'];
  const { json } = await admin(credit ? [...words, '--credit', credit] : words);
  return json.accountId;
}

const findKey = (apiKey: string) =>
  gatheredFindKey(database.db, gatheredAtOnce(1))(digestKey(apiKey).toString('hex'));

test('if the answer of the database to COMMIT is lost, the command reports an unknown result', async () => {
  const id = await anAccount();
  const cutter = await startCutter(database.operatorUrl);
  try {
    cutter.cutAt('COMMIT', 'after');
    const credit = ['accounts', 'credit', id, '5.00'];
    const { exitCode, err } = await admin(credit, { DATABASE_URL: cutter.url });
    expect(cutter.hasCut()).toBe(true);
    expect(exitCode).toBe(1);
    expect(err).toContain('not known whether');
    expect((await admin(`log --account ${id} --json`)).json[0].command).toContain('credit');
  } finally {
    await cutter.close();
  }
});

describe('accounts', () => {
  test('a new account has a working key, a signing secret and its opening credit', async () => {
    const { exitCode, json } = await admin([
      ...['accounts', 'create', '--name', 'Müller & Söhne', '--credit', '100.00', '--json'],
    ]);
    expect(exitCode).toBe(0);
    expect(Object.keys(json)).toEqual(['accountId', 'keyId', 'apiKey', 'webhookSecret']);
    const found = await findKey(json.apiKey);
    const { accountId, keyId } = json;
    expect(found).toMatchObject({ accountId, keyId, revokedAt: null });
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

  test('the first key of a new account can be limited or left out', async () => {
    const words = 'accounts create --name limited --models studio-2.0 --channels studio --json';
    const { json } = await admin(words);
    expect((await admin(`keys list --account ${json.accountId} --json`)).json).toMatchObject([
      { lastFour: json.apiKey.slice(-4), models: ['studio-2.0'], channels: ['studio'] },
    ]);
    const keyless = (await admin('accounts create --name keyless --no-key --json')).json;
    expect(Object.keys(keyless)).toEqual(['accountId', 'webhookSecret']);
    expect((await admin(`keys list --account ${keyless.accountId} --json`)).json).toEqual([]);
  });

  test('the list is a table with right-aligned numbers', async () => {
    const accountId = await anAccount('7.5');
    const { out } = await admin('accounts list');
    const [heading = '', ...lines] = out.trimEnd().split('\n');
    expect(heading).toMatch(
      /^ACCOUNT +NAME +AVAILABLE +HELD +OPEN TASKS +CHARGED 30 D +REFUSED 7 D +CREATED +DISABLED$/,
    );
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
    expect(other.err).toContain('another amount; nothing was moved');
    const { json } = await admin(`statement ${id} --json`);
    expect(json.movements).toEqual([
      expect.objectContaining({ number: 1, kind: 'credit', change: '12.345678', reason: 'top-up' }),
    ]);
  });

  test('a correction adds or takes money once per reference, and may make the balance negative', async () => {
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

  test('a correction names the task whose bill it corrects', async () => {
    const id = await anAccount('50');
    const taskId = aTaskId();
    await openNew(database.db, anOpening(id, taskId, 3_000_000));
    const correct = (account: string, words = '--reference case-1') =>
      admin([
        ...`accounts correct ${account} 1.5 --for customer --task ${taskId} ${words}`.split(' '),
        ...['--reason', 'flickers', '--json'],
      ]);
    const early = await correct(id);
    expect([early.exitCode, early.err]).toEqual([
      1,
      `The task ${taskId} has not ended; nothing was moved.\n`,
    ]);
    await closeTask(database.db, aClosing(taskId, 3_000_000, 2_000_000));
    const other = await correct(await anAccount());
    expect([other.exitCode, other.err]).toEqual([1, expect.stringContaining('has no task')]);

    expect((await correct(id)).json).toMatchObject({ recorded: true, taskId });
    expect((await correct(id)).json).toMatchObject({ recorded: false });
    const elsewhere = await admin(
      `accounts correct ${id} 1.5 --for customer --reference case-1 --reason flickers`,
    );
    expect(elsewhere.exitCode).toBe(1);
    expect(elsewhere.err).toContain('another task; nothing was moved');

    const { json, out } = await admin(`statement ${id} --limit 1 --json`);
    expect(JSON.parse(out)).toEqual({ data: json, next: expect.any(String) });
    expect(json.movements).toMatchObject([
      { kind: 'correction', taskId, change: '1.500000', balanceAfter: '49.500000' },
    ]);
    expect((await admin(`tasks show ${taskId} --json`)).json.corrections).toMatchObject([
      { reference: 'case-1', amount: '1.500000', reason: 'flickers' },
    ]);
    expect((await admin(`tasks show ${taskId}`)).out).toMatch(
      /^REFERENCE +TO CUSTOMER +REASON +AT\ncase-1 +1\.500000 +flickers /m,
    );
    expect((await admin('audit')).exitCode).toBe(0);
  });

  test('a credit is refused if the balance of the account has another currency', async () => {
    const id = await anAccount();
    await database.db.raw(`update balances set currency = 'USD' where account_id = ?`, [id]);
    const { exitCode, err } = await admin(`accounts credit ${id} 1`);
    expect(exitCode).toBe(1);
    expect(err).toContain('in another; nothing was moved');
  });

  test('no account is created in another currency than the books', async () => {
    await anAccount();
    const { exitCode, err } = await admin('accounts create --name Acme', { CURRENCY: 'EUR' });
    expect(exitCode).toBe(2);
    expect(err).toContain('all books are in another currency');
  });

  test('credits without a reference are recorded each time', async () => {
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
    ['100 USD', 'the books are in CNY'],
    ['EUR 100', 'in another currency'],
    ['CNY 100 USD', 'in another currency'],
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

  test('an amount may name the configured currency', async () => {
    const id = await anAccount();
    const { json } = await admin(['accounts', 'credit', id, '3.50 CNY', '--json']);
    expect(json.available).toBe('3.500000');
  });

  test('a credit is refused if the balance would exceed the safe integers', async () => {
    const id = await anAccount('9007199254.740991');
    const { exitCode, err } = await admin(`accounts credit ${id} 0.000001`);
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('larger than the books can hold'),
    });
    expect((await admin(`accounts show ${id} --json`)).json.available).toBe('9007199254.740991');
    // The hold of this task may return.
    await openNew(database.db, anOpening(id, aTaskId(), 1_000_000));
    expect((await admin(`accounts credit ${id} 0.500000`)).exitCode).toBe(1);
  });

  test('a disabled account shows the time of its disabling, and can be enabled again', async () => {
    const id = await anAccount();
    const { disabledAt } = (await admin(`accounts disable ${id} --json`)).json;
    expect(Date.parse(disabledAt)).toBeGreaterThan(0);
    // A second disabling keeps the time of the first.
    expect((await admin(`accounts disable ${id} --json`)).json.disabledAt).toBe(disabledAt);
    expect((await admin(`accounts enable ${id} --json`)).json.disabledAt).toBeNull();
  });

  test('the terms of an account are shown, and can be changed one by one', async () => {
    const accountId = await anAccount();
    const terms = async (words: string) =>
      (await admin(`accounts terms ${accountId} ${words}`)).json;
    const limits = { runningMax: null, queuedMax: null, createRate: null, readRate: null };
    const days = { filesKeptDays: null, tasksKeptDays: null };
    const others = { trustsLengths: false, priceList: null, alertBelow: null };
    const none = { accountId, ...limits, ...days, ...others };
    expect(await terms('--json')).toEqual(none);
    const changed = { ...none, runningMax: 5 };
    expect(await terms('--running-max 5 --json')).toEqual(changed);
    expect(await terms('--queued-max 20 --json')).toEqual({ ...changed, queuedMax: 20 });
    expect(await terms('--running-max none --queued-max none --json')).toEqual({
      ...changed,
      runningMax: null,
    });
    const rates = { createRate: 20, readRate: 90 };
    await terms('--create-rate 20 --read-rate 90 --json');
    expect((await admin(`accounts show ${accountId} --json`)).json).toMatchObject(rates);
    await terms('--create-rate none --read-rate none --json');
    expect(await terms('--files-kept-days 90 --json')).toMatchObject({ filesKeptDays: 90 });
    expect(await terms('--tasks-kept-days 0 --json')).toMatchObject({ tasksKeptDays: 0 });
    expect(await terms('--tasks-kept-days 35 --json')).toMatchObject({ tasksKeptDays: 35 });
    await terms('--files-kept-days none --tasks-kept-days none --json');
    expect(await terms('--trusts-lengths yes --json')).toEqual({ ...none, trustsLengths: true });
    expect((await admin(`accounts show ${accountId} --json`)).json.trustsLengths).toBe(true);
    expect((await admin(`accounts terms ${accountId} --trusts-lengths maybe`)).exitCode).toBe(2);
    expect(await terms('--trusts-lengths no --json')).toEqual(none);
    const unknown = await admin(`accounts terms ${accountId} --price-list partner`);
    expect(unknown).toMatchObject({ exitCode: 2, err: expect.stringMatching(/not "partner"/) });
    expect(await terms('--price-list none --json')).toEqual(none);
    expect(await terms('--alert-below 20.00 --json')).toEqual({ ...none, alertBelow: '20.000000' });
    expect((await admin(`accounts terms ${accountId} --alert-below -1`)).exitCode).toBe(2);
    expect(await terms('--alert-below none --json')).toEqual(none);
    const { out } = await admin(`accounts terms ${accountId}`);
    expect(out).toContain('no limit');
    expect(out).toMatch(/30, .*FILES_KEPT_DAYS/);
    expect(out).toMatch(/400, .*TASKS_KEPT_DAYS/);
    expect(out).toMatch(/10000, .*QUEUED_TASKS_MAX/);
    const lower = await admin(`accounts show ${accountId}`, { QUEUED_TASKS_MAX: '7' });
    expect(lower.out).toMatch(/7, .*QUEUED_TASKS_MAX/);
  });

  test('the rates of a key are set, listed and removed', async () => {
    const accountId = await anAccount();
    const { keyId } = (await admin(`keys create --account ${accountId} --json`)).json;
    const terms = async (words: string) => (await admin(`keys terms ${keyId} ${words}--json`)).json;
    expect(await terms('')).toEqual({
      ...{ keyId, createRate: null, readRate: null },
      managesKeys: false,
    });
    expect(await terms('--manages-keys yes ')).toMatchObject({ managesKeys: true });
    await terms('--manages-keys no ');
    await terms('--create-rate 5 ');
    const changed = { keyId, createRate: 5, readRate: 70, managesKeys: false };
    expect(await terms('--read-rate 70 ')).toEqual(changed);
    const { json } = await admin(`keys list --account ${accountId} --json`);
    expect(json).toContainEqual(expect.objectContaining(changed));
    expect(await terms('--create-rate none ')).toEqual({ ...changed, createRate: null });
    expect((await admin(`keys terms ${keyId}`)).out).toMatch(/50, .*CREATE_RATE_PER_SECOND/);
  });

  test('an account is disabled with or without cancelling its unfinished tasks', async () => {
    const id = await anAccount('10');
    const [open, final] = [aTaskId(), aTaskId()];
    await openNew(database.db, anOpening(id, open, 1_000_000));
    await openNew(database.db, anOpening(id, final, 1_000_000));
    await closeTask(database.db, aClosing(final, 1_000_000, null));
    const connection = await Connection.connect({ address: temporalAddress() });
    const { workflow } = new Client({ connection });
    // No worker polls this queue, so the workflow only records the requests.
    const handle = await workflow.start('generateVideo', { taskQueue, workflowId: open, args: [] });
    const wasCancelled = async () =>
      ((await handle.fetchHistory()).events ?? []).some(
        ({ workflowExecutionCancelRequestedEventAttributes }) =>
          workflowExecutionCancelRequestedEventAttributes,
      );
    await admin(`accounts disable ${id}`);
    expect(await wasCancelled()).toBe(false);
    const { json } = await admin(`accounts disable ${id} --cancel --json`);
    expect(json).toMatchObject({ accountId: id, cancelled: 1, openTasks: 1 });
    expect(await wasCancelled()).toBe(true);
    await handle.terminate();
    await connection.close();
  });

  test('if Temporal does not answer, `accounts disable --cancel` disables the account and reports the uncancelled tasks', async () => {
    const id = await anAccount('10');
    await openNew(database.db, anOpening(id, aTaskId(), 1_000_000));
    const words = `accounts disable ${id} --cancel`;
    expect((await admin(words, { TEMPORAL_ADDRESS: '' })).exitCode).toBe(2);
    expect((await admin(`accounts show ${id} --json`)).json.disabledAt).toBeNull();
    expect(await admin(words, { TEMPORAL_ADDRESS: '127.0.0.1:1' })).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('0 of 1 unfinished tasks were cancelled'),
    });
    expect((await admin(`accounts show ${id} --json`)).json.disabledAt).not.toBeNull();
  });
});

describe('keys', () => {
  test('a key is shown once, is listed by its last four characters, and can be revoked', async () => {
    const account = await anAccount();
    const { json } = await admin(
      `keys create --account ${account} --name batch --models studio-2.0 --channels studio ` +
        '--expires 2999-01-31 --json',
    );
    expect(Object.keys(json)).toEqual(['keyId', 'apiKey']);
    const { out, json: keys } = await admin(`keys list --account ${account} --json`);
    expect(out).not.toContain(json.apiKey);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatchObject({
      keyId: json.keyId,
      name: 'batch',
      lastFour: json.apiKey.slice(-4),
      models: ['studio-2.0'],
      channels: ['studio'],
      expiresAt: '2999-01-31T00:00:00.000Z',
      revokedAt: null,
    });
    const revoked = await admin(`keys revoke ${json.keyId}`);
    expect(revoked.exitCode).toBe(0);
    expect(revoked.out).toContain('stops working within 30 seconds');
    expect(revoked.out).toContain(`tasks list --account ${account}`);
    const found = await findKey(json.apiKey);
    expect(found?.revokedAt).toBeInstanceOf(Date);
    const at = found?.revokedAt?.toISOString().slice(0, 19).replace('T', ' ');
    const again = await admin(`keys revoke ${json.keyId}`);
    expect(again.exitCode).toBe(0);
    expect(again.out).toMatch(new RegExp(`^.*${json.keyId} .*before.* ${at}Z.*\n$`));
  });

  const aChild = { name: '', models: null, expiresAt: null };

  test('a revoked key tells how many keys it made still work, and a second call revokes and logs them', async () => {
    const account = await anAccount();
    const { keyId } = (await admin(`keys create --account ${account} --manages-keys --json`)).json;
    for (const _ of [1, 2]) await makeOwnKey(database.db, keyId, aChild);
    const made = async () =>
      (await admin(`keys list --account ${account} --json`)).json.map(
        (key: { made: number }) => key.made,
      );
    // The children, the key itself, and the first key of the account.
    expect(await made()).toEqual([0, 0, 2, 0]);
    expect((await admin(`keys revoke ${keyId} --json`)).json.made).toBe(2);
    const again = await admin(`keys revoke ${keyId}`);
    expect(again.out).toContain(`It has made 2 keys that still work`);
    const both = await admin(`keys revoke ${keyId} --with-made`);
    expect(both.out).toContain('Keys that it has made are revoked too: 2.');
    expect(await made()).toEqual([0, 0, 0, 0]);
    await admin(`keys revoke ${keyId} --with-made`);
    const { json: rows } = await admin(`log --account ${account} --json`);
    expect(rows.slice(0, 4).map(({ effect }: { effect: string }) => effect)).toEqual([
      'revoked; nothing was changed',
      'revoked before; keys it made that were revoked: 2',
      'revoked; nothing was changed',
      'valid → revoked',
    ]);
  });

  test('a key that is made while its maker is revoked with the keys it made is revoked too', async () => {
    const account = await anAccount();
    const { keyId } = (await admin(`keys create --account ${account} --manages-keys --json`)).json;
    const trx = await database.db.transaction();
    const child = await makeOwnKey(trx, keyId, aChild);
    if (child.outcome !== 'made') throw new Error(child.outcome);
    const revoked = admin(`keys revoke ${keyId} --with-made --json`);
    await until('the command waits', async () => {
      const { rows } = await database.db.raw(
        `select from pg_stat_activity
          where datname = current_database() and application_name = 'admin' and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await trx.commit();
    expect((await revoked).json.made).toBe(0);
    const { json } = await admin(`keys list --account ${account} --json`);
    const found = json.find((key: { keyId: string }) => key.keyId === child.keyId);
    expect(found.revokedAt).not.toBeNull();
  });

  test.each([
    ['2999-01-31', '2999-01-31 00:00:00Z'],
    ['2999-01-31T18:00:00+08:00', '2999-01-31 10:00:00Z'],
  ])('the expiry %s of a key is shown in UTC', async (date, at) => {
    const { out } = await admin(`keys create --account ${await anAccount()} --expires ${date}`);
    expect(out).toContain(`It is refused from ${at} on.`);
  });

  test('budgets can be set, listed with the amounts spent and held, and removed', async () => {
    const { accountId } = (await admin('accounts create --name Budgeted --credit 9.00 --json'))
      .json;
    const key = (await admin(`keys create --account ${accountId} --json`)).json.keyId;
    const set = `budgets set --account ${accountId} --period`;
    await admin(`${set} day --limit 5.00 --time-zone Asia/Shanghai`);
    await admin(`${set} day --limit 6.00`);
    const { json } = await admin(`${set} total --limit 2.00 --key ${key} --json`);
    const standing = { accountId, spent: '0.000000', held: '0.000000', timeZone: 'Asia/Shanghai' };
    const anew = expect.stringMatching(/T16:00:00.000Z$/);
    const whole = { keyId: null, period: 'day', limit: '6.000000', beginsAnewAt: anew };
    const ofKey = { keyId: key, period: 'total', limit: '2.000000', beginsAnewAt: null };
    expect(json).toEqual([
      { ...standing, ...whole },
      { ...standing, ...ofKey },
    ]);
    expect((await admin(`budgets remove --account ${accountId} --period day`)).exitCode).toBe(0);
    const listed = await admin(`budgets list --account ${accountId} --json`);
    expect(listed.json).toEqual([{ ...standing, ...ofKey }]);
    for (const [line, exitCode, reason] of [
      [`budgets remove --account ${accountId} --period day`, 1, 'There is no such budget'],
      [`${set} day --limit 1 --key key_none`, 1, 'has no key key_none'],
      [`${set} day --limit 1 --time-zone Mars`, 2, 'There is no time zone "Mars"'],
      [`${set} week --limit 1`, 2, '--period is one of day, month, total'],
      [`${set} day --limit -1`, 2, '"-1" is negative'],
      ['budgets list --account acct_none', 1, 'There is no account acct_none'],
    ] as const) {
      const said = await admin(line);
      expect([said.exitCode, said.err]).toEqual([exitCode, expect.stringContaining(reason)]);
    }
  });

  test('a key that makes a key while it gets a budget has only one of them', async () => {
    const { db } = database;
    const accountId = await anAccount();
    const { keyId } = await createKey(db, { accountId });
    await setManagesKeys(db, keyId, true);
    const budget = { accountId, keyId, period: 'day', limitMicros: 1 } as const;
    let set: ReturnType<typeof admin> | undefined;
    let making: ReturnType<typeof makeOwnKey> | undefined;
    // The command has found no made key, and waits for the same budget of another transaction.
    const rolledBack = db.transaction(async (trx) => {
      await setBudget(trx, budget);
      set = admin(`budgets set --account ${accountId} --key ${keyId} --period day --limit 5`);
      await until('the command waits', async () => (await statementsWaiting(db)) === 1);
      making = makeOwnKey(db, keyId, { name: '', models: null, expiresAt: null });
      await Promise.race([
        making,
        until('both wait', async () => (await statementsWaiting(db)) === 2),
      ]);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect((await set)?.exitCode).toBe(0);
    expect(await making).toEqual({ outcome: 'budget' });
  });

  test.each([
    ['--expires tomorrow', 2, 'is a day such as'],
    ['--expires 2999-02-30', 2, 'is a day such as'],
    ['--expires 2999-13-01', 2, 'is a day such as'],
    ['--expires 2020-01-01', 2, 'has passed already'],
    ['--models studio-2.0,nonsense', 2, 'no model "nonsense"'],
    ['--models ,', 2, 'names at least one'],
    ['--channels nonsense', 2, 'no channel "nonsense"'],
  ])('`keys create` with "%s" is refused', async (words, exitCode, reason) => {
    const account = await anAccount();
    const said = await admin(`keys create --account ${account} ${words}`);
    expect(said).toMatchObject({ exitCode, err: expect.stringContaining(reason) });
    expect((await admin(`keys list --account ${account} --json`)).json).toHaveLength(1);
  });
});

describe('tasks', () => {
  test('a task is shown with its object, and the list of tasks is filtered by account and status', async () => {
    const account = await anAccount('10');
    const [first, second] = [aTaskId(), aTaskId()];
    await openNew(database.db, anOpening(account, first, 1_000_000));
    await openNew(database.db, anOpening(account, second, 1_000_000));
    await closeTask(database.db, aClosing(second, 1_000_000, null));
    const { json } = await admin(`tasks show ${second} --json`);
    expect(json).toMatchObject({
      taskId: second,
      accountId: account,
      status: 'failed',
      callback: null,
      jobs: [{ kind: 'generation', state: 'closed', channel: null }],
      task: { id: second, error: { code: 'task_error' } },
    });
    const { json: open } = await admin(`tasks list --account ${account} --status submitted --json`);
    expect(open.map(({ taskId }: { taskId: string }) => taskId)).toEqual([first]);
    const { out } = await admin(`tasks show ${second}`);
    expect(out).toMatch(/^taskId +task_/);
    const { code, message } = json.task.error;
    expect(out).toMatch(new RegExp(`^error +${code}: ${message}$`, 'm'));
    expect((await admin(`tasks show ${first}`)).out).not.toMatch(/^error/m);
  });

  test('the output of a command contains no control characters and no text direction characters', async () => {
    const id = aTaskId();
    await openNew(database.db, anOpening(await anAccount('10'), id, 1_000_000));
    const odd = '\u0085\u009b31m\u2028\u2029\u202a\u202e\u2066\u2069\u001b\u007f';
    const label = { order: `${odd}é—日本\u{1f600}` };
    await database.db.raw(
      `update tasks set trace_id = ?, request = jsonb_set(request::jsonb, '{metadata,labels}', ?)
        where id = ?`,
      [`a${odd}b`, JSON.stringify(label), id],
    );
    const { out } = await admin(`tasks show ${id}`);
    expect(out).toMatch(/^traceId +a 31m b$/m);
    const escapes = String.raw`\u0085\u009b31m\u2028\u2029\u202a\u202e\u2066\u2069\u001b\u007f`;
    expect(out).toContain(`"order": "${escapes}é—日本\u{1f600}"`);
    const { out: json, json: parsed } = await admin(`tasks show ${id} --json`);
    for (const text of [out, json]) {
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    }
    expect(parsed.task.labels).toEqual(label);
    const { err } = await admin(['tasks', 'show', `task${odd}`]);
    expect(err).toContain(String.raw`There is no task task\u0085\u009b31m`);
  });

  test('a task is found by the upstream id of its job', async () => {
    const account = await anAccount('10');
    const id = aTaskId();
    await openNew(database.db, anOpening(account, id, 1_000_000));
    await database.db('jobs').where({ task_id: id }).update({
      channel: 'studio',
      upstream_model: 'studio-2.0',
      state: 'open',
      upstream_id: 'cgt-findable',
    });
    const { json } = await admin('tasks show cgt-findable --json');
    expect(json).toMatchObject({ taskId: id, jobs: [{ upstreamId: 'cgt-findable' }] });
  });

  test('`tasks show` prints the error code of a failed job', async () => {
    const id = aTaskId();
    await openNew(database.db, anOpening(await anAccount('10'), id, 1_000_000));
    const code = 'OutputVideoSensitiveContentDetected';
    const failure = { code, sentence: 'The generated video was withheld.' };
    const upstream = { channel: 'studio', upstream_model: 'studio-2.0', upstream_id: 'cgt-failed' };
    const report = { kind: 'generation', upstreamId: 'cgt-failed', status: 'failed', failure };
    await database
      .db('jobs')
      .where({ task_id: id })
      .update({ ...upstream, state: 'reported', report: JSON.stringify(report) });
    const { out } = await admin(`tasks show ${id}`);
    expect(out).toMatch(/^JOB .* FAILURE +FINDING$/m);
    expect(out).toMatch(new RegExp(`^generation .* cgt-failed .* ${code} `, 'm'));
  });

  test('`tasks show` prints the error code of a job that the provider refused', async () => {
    const id = aTaskId();
    await openNew(database.db, anOpening(await anAccount('10'), id, 1_000_000));
    await database.db('jobs').where({ task_id: id }).update({ attempt: '1:1' });
    const name = { taskId: id, kind: 'generation' } as const;
    const code = 'InvalidParameter.duration';
    const sentence = 'The generator did not accept the value of duration.';
    const failure = { code, sentence };
    await storeRejected(database.db, name, '1:2', failure);
    expect((await admin(`tasks show ${id} --json`)).json.jobs).toMatchObject([{ refusal: null }]);
    await storeRejected(database.db, name, '1:1', failure);
    expect((await admin(`tasks show ${id}`)).out).toMatch(
      new RegExp(`^generation .* ${code} `, 'm'),
    );
    const { jobs } = (await admin(`tasks show ${id} --json`)).json;
    expect(jobs).toMatchObject([{ report: null, refusal: failure }]);
  });

  test('a finished task and a task without a workflow cannot be cancelled', async () => {
    const account = await anAccount('10');
    const [final, lost] = [aTaskId(), aTaskId()];
    await openNew(database.db, anOpening(account, final, 1_000_000));
    await closeTask(database.db, aClosing(final, 1_000_000, null));
    await openNew(database.db, anOpening(account, lost, 1_000_000));
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

  test('the callback of a pending task that an operator ends is due at once', async () => {
    const account = await anAccount('10');
    const [one, other, quiet] = [aTaskId(), aTaskId(), aTaskId()];
    const callback = { callback_url: 'https://a.example.com/', passThrough: {} };
    const request = aRequest({ metadata: callback });
    for (const id of [one, other]) {
      await storePending(database.db, anOpening(account, id, 1_000_000), { request });
    }
    await storePending(database.db, anOpening(account, quiet, 1_000_000));
    expect((await admin(`tasks cancel ${one}`)).exitCode).toBe(0);
    expect((await admin(`accounts disable ${account} --cancel`)).exitCode).toBe(0);
    const due = await dueCallbacks(database.db);
    expect(due).toEqual(expect.arrayContaining([one, other]));
    expect(due).not.toContain(quiet);
  });

  test('a pending task can be cancelled without Temporal', async () => {
    const account = await anAccount('10');
    const id = aTaskId();
    const request = aRequest({
      metadata: { callback_url: 'https://a.example.com/', passThrough: {} },
    });
    await storePending(database.db, anOpening(account, id, 1_000_000), { request });
    expect((await admin(`tasks cancel ${id}`, { TEMPORAL_ADDRESS: '' })).exitCode).toBe(0);
  });

  test('`tasks cancel` fails with a message if Temporal does not answer or is not configured', async () => {
    const account = await anAccount('10');
    const open = aTaskId();
    await openNew(database.db, anOpening(account, open, 1_000_000));
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
  test('callbacks are listed by state and shown with their attempts', async () => {
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
    for (const words of ['list', 'list --json', `show ${task}`, `show ${task} --json`]) {
      expect((await admin(`callbacks ${words}`)).out).not.toContain('secret');
    }
    const { out } = await admin(`callbacks show ${task}`);
    expect(out).toContain('https://hooks.example.com/in?…');
  });

  test('a resend makes another delivery of the same message due', async () => {
    const task = await aFinalTask(database, 'https://hooks.example.com/in', {
      accountId: await anAccount(),
    });
    const { exitCode, json } = await admin(`callbacks resend ${task} --json`);
    expect({ exitCode, json }).toEqual({
      exitCode: 0,
      json: { taskId: task, delivery: 2, webhookId: `${task}:succeeded` },
    });
    expect(await dueCallbacks(database.db)).toContain(task);
  });

  test('a callback can be resent while Temporal does not answer', async () => {
    const task = await aFinalTask(database, 'https://a.example', { accountId: await anAccount() });
    const line = `callbacks resend ${task}`;
    expect((await admin(line, { TEMPORAL_ADDRESS: '127.0.0.1:1' })).exitCode).toBe(0);
    expect((await admin(`callbacks show ${task} --json`)).json).toMatchObject({ deliveries: 2 });
  });

  test('a callback whose webhook was deleted is resent to another webhook of the account, if there is one', async () => {
    const accountId = await anAccount();
    const webhook = { accountId, events: ['succeeded'] as const, max: 10, nowMs: Date.now() };
    const old = await createWebhook(database.db, { ...webhook, url: 'https://old.example.com/' });
    const task = await aFinalTask(database, null, { accountId });
    await deleteWebhook(database.db, accountId, old?.id ?? '');
    const line = `callbacks resend ${task}`;
    expect((await admin(line)).err).toContain('was deleted, and no other one');
    await createWebhook(database.db, { ...webhook, url: 'https://new.example.com/' });
    expect((await admin(line)).exitCode).toBe(0);
    expect((await admin(`callbacks show ${task}`)).out).toContain('https://new.example.com/');
  });

  test('no callback is resent for an unfinished task or for a task without a callback', async () => {
    const accountId = await anAccount();
    const running = await aFinalTask(database, 'https://a.example', { accountId, final: false });
    const silent = await aFinalTask(database, null, { accountId });
    expect((await admin(`callbacks resend ${running}`)).err).toContain('is not finished');
    expect((await admin(`callbacks resend ${silent}`)).err).toContain('asked for no callback');
    expect((await admin(`callbacks show ${aTaskId()}`)).err).toContain('There is no task');
  });

  test('callbacks are signed with a new webhook secret at once, and during the overlap also with the previous secret', async () => {
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

describe('the ledger', () => {
  test('`audit` exits with 0 if the balances agree with the movements, and otherwise prints the differences and exits with 1', async () => {
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

  test('the next page of a statement begins after the given movement number', async () => {
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

  test('`statement` prints the reason of each movement', async () => {
    const id = await anAccount('100');
    const taskId = aTaskId();
    const opening = anOpening(id, taskId, 5_000_000);
    await openNew(database.db, opening);
    await closeTask(database.db, aClosing(taskId, 5_000_000, 4_000_000));
    const { json, out } = await admin(`statement ${id} --json`);
    const reasons = json.movements.map(({ reason }: { reason: string }) => reason);
    expect(reasons).toContain('held for a task');
    expect(reasons).toContain('charged from the hold');
    expect(reasons.at(-1)).toBe('opening credit');
    expect(out).not.toContain('"reason": ""');
  });
});

describe('`reconcile lost`', () => {
  test('confirms the loss of workflows for two hours, or for the given number of hours', async () => {
    expect(await isLossConfirmed(database.db)).toBe(false);
    for (const [line, hours] of [
      ['reconcile lost --json', 2],
      ['reconcile lost --hours 12 --json', 12],
    ] as const) {
      const { exitCode, json } = await admin(line);
      expect(exitCode).toBe(0);
      const { rows } = await database.db.raw<{ rows: { hours: number }[] }>(
        'select extract(epoch from ?::timestamptz - now())::float8 / 3600 as hours',
        [json.until],
      );
      expect(rows[0]?.hours).toBeCloseTo(hours, 1);
      expect(await isLossConfirmed(database.db)).toBe(true);
    }
    expect(await admin('reconcile lost --hours 49')).toMatchObject({ exitCode: 2 });
  });

  test('ends the pending tasks of an older copy of the database, if that is asked for', async () => {
    const account = await anAccount('10');
    const [pending, open] = [aTaskId(), aTaskId()];
    await storePending(database.db, anOpening(account, pending, 1_000_000));
    await openNew(database.db, anOpening(account, open, 1_000_000));
    const statusOf = async (id: string) => (await admin(`tasks show ${id} --json`)).json.status;
    await admin('reconcile lost');
    expect(await statusOf(pending)).toBe('submitted');
    const api = connect({ url: database.url, poolMax: 1, applicationName: 'api' });
    try {
      await api.raw('select 1');
      const refused = await admin('reconcile lost --pending');
      expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining('of: api.') });
    } finally {
      await api.destroy();
    }
    expect(await statusOf(pending)).toBe('submitted');
    const { json } = await admin('reconcile lost --pending --json');
    expect(json.ended).toBeGreaterThan(0);
    expect([await statusOf(pending), await statusOf(open)]).toEqual(['failed', 'submitted']);
    const { json: shown } = await admin(`accounts show ${account} --json`);
    expect([shown.available, shown.held]).toEqual(['9.000000', '1.000000']);
  });
});

describe('the schema', () => {
  test('`migrate` can be repeated', async () => {
    const { exitCode, json } = await admin('migrate --json', { DATABASE_URL: database.url });
    expect({ exitCode, json }).toEqual({ exitCode: 0, json: { applied: [], temporal: true } });
  });

  test('only the owner of the database can migrate', async () => {
    const { exitCode, err } = await admin('migrate');
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/"video_operator" .*DATABASE_URL/),
    });
  });

  test('the commands of an old version work on a newer schema, and `migrate` leaves it as it is', async () => {
    const own = await createTestDatabase();
    try {
      await own
        .db('schema_migrations')
        .insert({ name: '9999_from_the_future', hash: 'of its text' });
      const over = { DATABASE_URL: own.url };
      for (const line of ['migrate', 'accounts create --name x', 'accounts list']) {
        expect((await admin(line, over)).exitCode).toBe(0);
      }
      expect(await own.db('accounts')).toHaveLength(1);
    } finally {
      await own.drop();
    }
  });

  test('a database without migrations is reported with a hint to migrate', async () => {
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
    [
      'account list',
      2,
      'There is no command "account list".\nDid you mean "accounts list"[?] "admin',
    ],
    ['margin --by model', 2, 'There is no command "margin".\nDid you mean "margins"[?]'],
    ['statment acct_a', 2, 'Did you mean "statement"?'],
    ['accounts create --name a --no-key=1', 2, '--no-key takes no value'],
    ['accounts create --name a --no-key --models studio-2.0', 2, '--no-key makes no key'],
    ['accounts create --name a --models nonsense', 2, 'no model "nonsense"'],
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
    ['accounts correct a 1 --for me --reference r --reason x', 2, '--for .* customer, house'],
    ['accounts disable acct_none', 1, 'There is no account acct_none'],
    ['accounts terms acct_none --running-max 2', 1, 'There is no account acct_none'],
    ['accounts terms acct_none --queued-max -1', 2, '--queued-max is a whole number'],
    ['accounts terms acct_none --files-kept-days 0', 2, '--files-kept-days .* from 1'],
    ['accounts terms acct_none --tasks-kept-days 34', 2, '--tasks-kept-days .* 0 .* from 35'],
    ['accounts enable acct_none', 1, 'There is no account acct_none'],
    ['keys create --account acct_none', 1, 'There is no account acct_none'],
    ['keys terms key_none --read-rate 1', 1, 'There is no key key_none'],
    ['keys list --account acct_none', 1, 'There is no account acct_none'],
    ['keys revoke key_none', 1, 'There is no key key_none'],
    ['tasks show task_none', 1, 'There is no task task_none'],
    ['tasks list --status done', 2, '--status is one of pending, submitted'],
    ['tasks list --limit 0', 2, '--limit .* 1 to 10000'],
    ['statement acct_none', 1, 'There is no account acct_none'],
    ['callbacks list --state open', 2, '--state is one of pending, delivered'],
    ['webhooks rotate acct_none', 1, 'There is no account acct_none'],
  ])('the command "%s" exits with %i: %s', async (line, exitCode, reason) => {
    const said = await admin(line);
    expect(said).toMatchObject({ exitCode, out: '', err: expect.stringMatching(reason) });
    const asJson = await admin(`${line} --json`);
    expect(asJson.exitCode).toBe(exitCode);
    expect(asJson.json).toEqual({ error: { message: expect.stringMatching(reason) }, exitCode });
  });

  test.each(['nonsense', 'margin', 'accounts', 'accounts nonsense', 'help nonsense'])(
    'the answer to the unknown command "%s" has two lines',
    async (line) => {
      expect((await admin(line)).err).toMatch(/^There is no command ".*"\.\n.+\n$/);
    },
  );

  test('a customer is named by its id, or by a name that only one customer has', async () => {
    const { json: one } = await admin('accounts create --name Solo --json');
    const { accountId } = one;
    expect((await admin('accounts show Solo --json')).json.accountId).toBe(accountId);
    for (const line of [
      'accounts credit Solo 5 --reference r',
      'accounts terms Solo --running-max 3',
      'keys create --account Solo',
      'budgets set --account Solo --period day --limit 9',
      'webhooks rotate Solo',
      'accounts disable Solo',
      'accounts enable Solo',
    ]) {
      expect([line, (await admin(line)).exitCode]).toEqual([line, 0]);
      const { json } = await admin('log --limit 1 --json');
      expect(json[0]).toMatchObject({ accountId, command: line });
    }
    expect((await admin('statement Solo --json')).json.accountId).toBe(accountId);
    expect((await admin('keys list --account Solo --json')).json).toHaveLength(2);
    expect((await admin('log --account Solo --json')).json).toHaveLength(8);

    await admin('accounts create --name Solo');
    const { exitCode, err } = await admin('accounts show Solo');
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(`^2 accounts are named Solo: ${accountId}, acct_`),
    });
    // An id comes before a name.
    await admin(`accounts create --name ${accountId}`);
    expect((await admin(`accounts show ${accountId} --json`)).json.name).toBe('Solo');
  });

  test('`keys revoke` refuses a key that is given instead of a key id, and does not print the key', async () => {
    const key = makeApiKey();
    const { exitCode, err } = await admin(`keys revoke ${key}`);
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: expect.stringContaining('the key itself'),
    });
    expect(err).not.toContain(key);
  });

  test('a database that does not answer causes an error message of one sentence', async () => {
    const { exitCode, err } = await admin('accounts list', {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    });
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/^.*127\.0\.0\.1:1\/none \(DATABASE_URL\) .*ECONNREFUSED.*\n$/),
    });
  });

  test('a missing DATABASE_URL is reported if no stack runs', async () => {
    const { exitCode, err } = await admin('accounts list', { DATABASE_URL: '' });
    expect({ exitCode, err }).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('runs in .data (DATA_DIR)'),
    });
  });
});

describe('help', () => {
  test('exists for `admin` as a whole, for each group and for each command', async () => {
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

  test('is not asked for by the word behind a command', async () => {
    const { exitCode, err } = await admin('reconcile lost help');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('"help"')]);
  });

  test('is printed to stderr with exit code 2, if no command is given', async () => {
    expect(await admin([])).toMatchObject({
      exitCode: 2,
      out: '',
      err: expect.stringContaining('accounts create'),
    });
  });
});
