// Tests of the starter with a real database and a Temporal that the test controls. Such a Temporal
// does not answer before the test says so.

import type { Submission } from '../../src/engine/client';
import type { Loop } from '../../src/owed/loop';
import { createStarter } from '../../src/tasks/create/starter';
import { findTask } from '../../src/tasks/tasks.rows';
import { anAccountWith, storePending } from '../support/books';
import { aRequest, aTaskInput } from '../support/builders';
import { dueCallbacks } from '../support/callbacks';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
let starter: Loop;
let answers: { taskId: string; answer: (outcome: Submission['outcome']) => void }[];
let accounts = 0;
beforeAll(async () => {
  database = await createTestDatabase(10);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  await database.db.raw('delete from callbacks');
  await database.db.raw('delete from tasks');
  await database.db.raw('update balances set pending = 0, pending_tasks = 0');
  answers = [];
});
afterEach(async () => {
  const closed = starter.close();
  for (const { answer } of answers) answer('started');
  await closed;
});

function begin(): void {
  const submit = ({ taskId }: { taskId: string }) =>
    new Promise<Submission>((resolve) => {
      answers.push({ taskId, answer: (outcome) => resolve({ outcome } as Submission) });
    });
  starter = createStarter(database.db, { submit }, () => undefined);
}

/** Stores pending tasks that are due at once, the oldest first. */
async function aQueue(count: number): Promise<string[]> {
  accounts += 1;
  const accountId = await anAccountWith(database.db, `acct_${accounts}`, 0);
  const inputs = Array.from({ length: count }, (_, n) =>
    aTaskInput({ accountId, createdAtMs: Date.now() - 60_000 + n }),
  );
  for (const input of inputs) await storePending(database.db, input, { isDue: true });
  return inputs.map(({ taskId }) => taskId);
}

test('the loop starts the tasks of two accounts in turns, and at most sixteen at the same time', async () => {
  const [burst, quiet] = [await aQueue(40), await aQueue(2)];
  begin();
  await until('the quiet account is served', () =>
    quiet.every((id) => answers.some(({ taskId }) => taskId === id)),
  );
  await until('sixteen are started', () => answers.length >= 16);
  expect(answers.length).toBe(16);
  for (let n = 0; n < 42; n += 1) {
    await until('one more is started', () => answers.length > n);
    answers[n]?.answer('started');
    expect(answers.length - n).toBeLessThanOrEqual(16);
  }
  expect(answers.map(({ taskId }) => taskId).sort()).toEqual([...burst, ...quiet].sort());
  const ofBurst = answers.map(({ taskId }) => burst.indexOf(taskId)).filter((at) => at >= 0);
  expect(ofBurst.slice(0, 8).every((at) => at < 16)).toBe(true);
});

/** Answers the next starts of the loop with `unanswered`, from the n-th on. */
async function unanswered(from: number, times: number): Promise<void> {
  for (let n = from; n < from + times; n += 1) {
    await until('one more is started', () => answers.length > n);
    answers[n]?.answer('unanswered');
  }
}

test('after three unanswered starts in a row Temporal counts as away, and the loop starts one task a second until a start is answered', async () => {
  await aQueue(3);
  begin();
  await unanswered(0, 2);
  await until('the third is started', () => answers.length === 3);
  expect(starter.isAway()).toBe(false);
  answers[2]?.answer('unanswered');
  await until('Temporal counts as away', () => starter.isAway());
  const began = performance.now();
  await aQueue(20);
  for (let n = 0; n < 50; n += 1) starter.wake();
  await until('one start probes', () => answers.length > 3);
  const seconds = Math.ceil((performance.now() - began) / 1_000);
  expect(answers.length - 3).toBeLessThanOrEqual(seconds);
  answers[3]?.answer('started');
  await until('the others follow', () => answers.length >= 16);
  expect(starter.isAway()).toBe(false);
});

test('an answered start ends the row of unanswered starts', async () => {
  await aQueue(5);
  begin();
  await unanswered(0, 2);
  await until('all are started', () => answers.length === 5);
  answers[2]?.answer('started');
  answers[3]?.answer('unanswered');
  answers[4]?.answer('unanswered');
  await until('all are tried again', () => answers.length >= 9);
  expect(starter.isAway()).toBe(false);
});

test('a task of a process that has ended is started by another process', async () => {
  const [taskId = ''] = await aQueue(1);
  begin();
  await until('it is started', () => answers.length === 1);
  // The first process dies before Temporal answers. Its lease runs out.
  const dying = starter;
  await database.db.raw('update tasks set due_at = now() where id = ?', [taskId]);
  begin();
  await until('it is started again', () => answers.length === 2);
  expect(answers.map((one) => one.taskId)).toEqual([taskId, taskId]);
  for (const { answer } of answers) answer('started');
  await dying.close();
});

test('a started task stays pending until its workflow opens it, and is not started again meanwhile', async () => {
  const [taskId = ''] = await aQueue(1);
  begin();
  await until('it is started', () => answers.length === 1);
  answers[0]?.answer('started');
  const [other = ''] = await aQueue(1);
  starter.wake();
  await until('the next claim has run', () => answers.length === 2);
  expect(answers[1]?.taskId).toBe(other);
  expect((await findTask(database.db, taskId))?.live?.stage).toBe('accepted');
});

test('a task that Temporal does not answer is started again after other tasks, and one whose workflow has ended fails', async () => {
  const [first = '', second = ''] = await aQueue(2);
  begin();
  await until('both are started', () => answers.length === 2);
  const answerOf = (id: string) => answers.find(({ taskId }) => taskId === id)?.answer;
  answerOf(first)?.('unanswered');
  answerOf(second)?.('ended');
  const statusOf = async (id: string) => (await findTask(database.db, id))?.status;
  await until('it fails', async () => (await statusOf(second)) === 'failed');
  await until('it may be started again within five seconds', async () => {
    const { rows } = await database.db.raw<{ rows: { left: number }[] }>(
      'select extract(epoch from due_at - now())::float8 as left from tasks where id = ?',
      [first],
    );
    return (rows[0]?.left ?? 9) <= 5;
  });
  await until('it is started again', () => answers.length === 3);
  expect(answers[2]?.taskId).toBe(first);
});

test('if the workflow of a pending task has ended, the task fails and its callback is due', async () => {
  const [taskId = ''] = await aQueue(1);
  const request = aRequest({ metadata: { callback_url: 'https://a.example' } });
  const asked = JSON.stringify(request);
  await database.db.raw('update tasks set request = ? where id = ?', [asked, taskId]);
  begin();
  await until('it is started', () => answers.length === 1);
  answers[0]?.answer('ended');
  await until('its callback is due', async () =>
    (await dueCallbacks(database.db)).includes(taskId),
  );
  expect((await findTask(database.db, taskId))?.status).toBe('failed');
});
