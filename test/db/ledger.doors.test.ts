// The two doors against a real PostgreSQL: what moves, what does not, and what a second try is
// answered.

import { findFunds } from '../../src/db/funds';
import { closeTask, creditAccount, openTask } from '../../src/db/ledger';
import { noteUnknownStart, takeBackTask } from '../../src/db/unknown-starts';
import { settlementFor } from '../../src/domain/pricing';
import { taskObject } from '../../src/domain/task';
import type { OpenTask, TaskInput } from '../../workflows/messages';
import { aClosing } from '../support/books';
import { anEnhancedPlan, aTaskInput } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';

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

function opening(input: TaskInput): OpenTask {
  const identity = { id: input.taskId, traceId: 't', model: 'studio-2.0', createdAt: 1 };
  return {
    input,
    object: taskObject(identity, { status: 'submitted' }),
    createdAtMs: 1_000,
    deadlineAtMs: 2_000_000,
  };
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
  test('stores the row and the hold together, once', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    expect(await openTask(test_.db, opening(input))).toEqual({ outcome: 'opened' });
    expect(await openTask(test_.db, opening(input))).toMatchObject({
      outcome: 'exists',
      requestHash: 'hash',
      object: { id: input.taskId, status: 'submitted' },
    });
    expect(await funds(accountId)).toEqual([10_000_000 - hold, hold, 1]);
  });

  test('a short balance stores nothing and says what is needed and what is there', async () => {
    const accountId = await anAccount(hold - 1);
    const input = aTaskInput({ accountId });
    expect(await openTask(test_.db, opening(input))).toEqual({
      outcome: 'refused',
      refusal: {
        code: 'insufficient_balance',
        param: '',
        message: 'This task needs a hold of 5.009400, but only 5.009399 is available.',
      },
    });
    expect(await funds(accountId)).toEqual([hold - 1, 0, 0]);
  });

  test('twenty at once on money for three open exactly three', async () => {
    const accountId = await anAccount(hold * 3);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => openTask(test_.db, opening(aTaskInput({ accountId })))),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'opened')).toHaveLength(3);
    expect(await funds(accountId)).toEqual([0, hold * 3, 3]);
  });
});

describe('closeTask', () => {
  test('a failed task gets its whole hold back, once', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    await openTask(test_.db, opening(input));
    const object = failedObject(input.taskId);
    const close = { taskId: input.taskId, object, heldMicros: hold, charge: [] };
    expect(await closeTask(test_.db, close)).toEqual({ object, first: true });
    expect(await closeTask(test_.db, close)).toEqual({ object, first: false });
    expect(await funds(accountId)).toEqual([10_000_000, 0, 0]);
  });

  test.each([
    ['noted: nothing is charged', async () => undefined, 'failed', 0],
    [
      'noted and taken back: it is charged',
      (id: string) => takeBackTask(test_.db, id),
      'succeeded',
      7,
    ],
    [
      'noted by another call as well: nothing is charged',
      (id: string) => noteUnknownStart(test_.db, id, 'another'),
      'failed',
      0,
    ],
  ])('a success whose start was %s', async (_, meanwhile, status, charged) => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    await openTask(test_.db, opening(input));
    await noteUnknownStart(test_.db, input.taskId, 'mine');
    await meanwhile(input.taskId);
    const withdrawn = failedObject(input.taskId);
    const close = { ...aClosing(input.taskId, hold, 7), nonce: 'mine', withdrawn };
    expect(await closeTask(test_.db, close)).toMatchObject({ object: { status }, first: true });
    expect(await closeTask(test_.db, close)).toMatchObject({ object: { status }, first: false });
    expect(await funds(accountId)).toEqual([10_000_000 - charged, 0, 0]);
  });

  test('a success whose start is not the one that was noted is charged', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    await openTask(test_.db, opening(input));
    await noteUnknownStart(test_.db, input.taskId, 'another');
    const withdrawn = failedObject(input.taskId);
    await closeTask(test_.db, { ...aClosing(input.taskId, hold, 7), nonce: 'mine', withdrawn });
    expect(await funds(accountId)).toEqual([9_999_993, 0, 0]);
  });

  test.each([
    ['below the hold', 100_000, 4_600_000],
    ['equal to the hold', 108_900, 5_009_400],
    ['above the hold', 200_000, 9_200_000],
    ['above all there is', 400_000, 18_400_000],
  ])('tokens %s are charged to the micro-unit', async (_, completionTokens, charged) => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId });
    await openTask(test_.db, opening(input));
    const charge = settlementFor(input.plan, { completionTokens, outputMilliseconds: null });
    const object = failedObject(input.taskId);
    await closeTask(test_.db, { taskId: input.taskId, object, heldMicros: hold, charge });
    expect(await funds(accountId)).toEqual([10_000_000 - charged, 0, 0]);
  });

  test('two closings at once: one wins, both answer the same object', async () => {
    const accountId = await anAccount(10_000_000);
    const input = aTaskInput({ accountId, plan: anEnhancedPlan() });
    await openTask(test_.db, opening(input));
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

describe('the books', () => {
  test('no transfer can be changed or removed', async () => {
    await anAccount(1);
    await expect(test_.db.raw('update transfers set amount = 2')).rejects.toThrow(/never changed/);
    await expect(test_.db.raw('delete from transfers')).rejects.toThrow(/never changed/);
    await expect(test_.db.raw('truncate transfers')).rejects.toThrow(/never changed/);
  });

  test('a credit repeated with its reference is recorded once, and not with another amount', async () => {
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
