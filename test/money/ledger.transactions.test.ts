// Tests openTask and closeTask with a real PostgreSQL. The tests show the movements of money and
// the results of repeated calls.

import { setAccountDisabled } from '../../src/accounts/accounts.rows';
import { closeTask, creditAccount, openTask } from '../../src/money/ledger.rows';
import { settlementFor } from '../../src/planning/pricing.rules';
import { taskObject } from '../../src/tasks/task.rules';
import { findTask } from '../../src/tasks/tasks.rows';
import { openNew, storePending } from '../support/books';
import { anEnhancedPlan, aTaskInput } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { findFunds } from '../support/funds';

let test_: TestDatabase;
beforeAll(async () => {
  test_ = await createTestDatabase();
});
afterAll(() => test_?.drop());

let accounts = 0;
async function anAccount(available: number): Promise<string> {
  accounts += 1;
  const id = `acct_${accounts}`;
  await test_.db.raw('insert into accounts (id, name) values (?, ?)', [id, id]);
  await test_.db.raw('insert into balances (account_id) values (?)', [id]);
  if (available > 0) {
    await creditAccount(test_.db, {
      accountId: id,
      amountMicros: available,
      reference: 'start',
      reason: 'test',
    });
  }
  return id;
}

const failedObject = (id: string) =>
  taskObject(
    { id, traceId: 't', model: 'studio-2.0', createdAt: 1 },
    { status: 'failed', finishedAt: 2, error: { code: 'task_error', message: 'no' } },
  );

const funds = async (accountId: string) => {
  const { availableMicros, heldMicros, openTasks } = await findFunds(test_.db, accountId);
  return [availableMicros, heldMicros, openTasks];
};

const hold = 5_009_400;

describe('openTask', () => {
  test('stores the status and the hold together, and a repeated call changes nothing', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    expect(await openNew(test_.db, input)).toEqual({ outcome: 'opened' });
    expect(await openTask(test_.db, input)).toMatchObject({ outcome: 'exists', object: null });
    expect(await funds(accountId)).toEqual([10_000_000 - hold, hold, 1]);
    const task = await findTask(test_.db, input.taskId);
    expect(task?.status).toBe('submitted');
    expect(JSON.parse(task?.object ?? '').billing).toMatchObject({ held: '5.009400', items: [] });
  });

  test('refuses a task without enough money, ends it as failed and uncharged, and names the hold and the available amount', async () => {
    const accountId = await anAccount(hold - 1);
    const input = aTaskInput({ accountId });
    expect(await openNew(test_.db, input)).toMatchObject({
      outcome: 'refused',
      object: { status: 'failed', error: { code: 'task_error' } },
      refusal: {
        code: 'insufficient_balance',
        param: '',
        message: expect.stringMatching(/5\.009400 CNY.*5\.009399 CNY/),
      },
    });
    expect(await funds(accountId)).toEqual([hold - 1, 0, 0]);
    expect(await findTask(test_.db, input.taskId)).toMatchObject({ status: 'failed' });
  });

  test('does not open a refused task later, although the account has money by then', async () => {
    const accountId = await anAccount(hold - 1);
    const input = aTaskInput({ accountId });
    const opened = await openNew(test_.db, input);
    expect(opened.outcome).toBe('refused');
    const credit = { accountId, amountMicros: hold, reference: 'later', reason: 'test' };
    await creditAccount(test_.db, credit);
    expect(await openTask(test_.db, input)).toMatchObject({
      outcome: 'exists',
      object: { status: 'failed' },
    });
    expect(await funds(accountId)).toEqual([hold - 1 + hold, 0, 0]);
  });

  test('does not open a task whose deadline has passed, and the task ends as expired', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId, createdAtMs: 0 });
    await storePending(test_.db, input);
    expect(await openTask(test_.db, input)).toMatchObject({
      outcome: 'exists',
      object: { status: 'failed', error: { message: expect.stringContaining('expired after') } },
    });
    expect(await funds(accountId)).toEqual([10_000_000, 0, 0]);
  });

  test('opens no task of a disabled account', async () => {
    const accountId = await anAccount(hold);
    await setAccountDisabled(test_.db, accountId, true);
    const refused = await openNew(test_.db, aTaskInput({ accountId }));
    expect(refused).toMatchObject({ outcome: 'refused', refusal: { code: 'account_disabled' } });
    expect(await funds(accountId)).toEqual([hold, 0, 0]);
    await setAccountDisabled(test_.db, accountId, false);
    expect(await openNew(test_.db, aTaskInput({ accountId }))).toEqual({
      outcome: 'opened',
    });
  });

  test('opens exactly three of twenty concurrent tasks if there is money for three', async () => {
    const accountId = await anAccount(hold * 3);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => openNew(test_.db, aTaskInput({ accountId }))),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'opened')).toHaveLength(3);
    expect(await funds(accountId)).toEqual([0, hold * 3, 3]);
  });
});

describe('closeTask', () => {
  test('returns the whole hold of a failed task, and a repeated call returns nothing more', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    await openNew(test_.db, input);
    const object = failedObject(input.taskId);
    const close = { taskId: input.taskId, object, heldMicros: hold, charge: [] };
    expect(await closeTask(test_.db, close)).toEqual({ object, first: true, hasCallback: false });
    const stored = { ...object, timings: expect.any(Object) as object };
    expect(await closeTask(test_.db, close)).toEqual({
      ...{ object: stored, first: false, hasCallback: false },
    });
    expect(await funds(accountId)).toEqual([10_000_000, 0, 0]);
  });

  test.each([
    ['less than the hold', 100_000, 4_600_000],
    ['as much as the hold', 108_900, 5_009_400],
    ['more than the hold', 200_000, 9_200_000],
    ['more than the whole balance', 400_000, 18_400_000],
  ])(
    'charges exactly the cost of the tokens if that cost is %s',
    async (_, completionTokens, charged) => {
      const accountId = await anAccount(10_000_000);
      const input = aTaskInput({ accountId });
      await openNew(test_.db, input);
      const charge = settlementFor(input.plan, { completionTokens, outputMilliseconds: null });
      const object = failedObject(input.taskId);
      await closeTask(test_.db, { taskId: input.taskId, object, heldMicros: hold, charge });
      expect(await funds(accountId)).toEqual([10_000_000 - charged, 0, 0]);
    },
  );

  test('stores only the first of several concurrent calls, and every call returns the stored object', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId, plan: anEnhancedPlan() });
    await openNew(test_.db, input);
    const heldMicros = input.plan.hold.amountMicros;
    const charge = settlementFor(input.plan, { completionTokens: 1, outputMilliseconds: 1 });
    const answers = await Promise.all(
      [0, 1, 2, 3].map((n) =>
        closeTask(test_.db, {
          taskId: input.taskId,
          object: { ...failedObject(input.taskId), message: `closing ${n}` },
          heldMicros,
          charge: n % 2 ? charge : [],
        }),
      ),
    );
    expect(answers.filter(({ first }) => first)).toHaveLength(1);
    expect(new Set(answers.map(({ object }) => object.message)).size).toBe(1);
  });
});

describe('the ledger', () => {
  test('does not allow a change or a removal of a transfer', async () => {
    await anAccount(1);
    await expect(test_.db.raw('update transfers set amount = 2')).rejects.toThrow(/never changed/);
    await expect(test_.db.raw('delete from transfers')).rejects.toThrow(/never changed/);
    await expect(test_.db.raw('truncate transfers')).rejects.toThrow(/never changed/);
  });

  test('records a repeated credit only once, and refuses a credit with the same reference and another amount', async () => {
    const accountId = await anAccount(0);
    const credit = { accountId, amountMicros: 5, reference: 'invoice-1', reason: '' };
    expect(await creditAccount(test_.db, credit)).toBe('created');
    expect(await creditAccount(test_.db, credit)).toBe('exists');
    expect(await creditAccount(test_.db, { ...credit, amountMicros: 6 })).toBe(
      'exists_with_different_amount',
    );
    expect(await funds(accountId)).toEqual([5, 0, 0]);
  });
});
