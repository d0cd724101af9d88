// Tests of the starter with a real database and a Temporal that the test controls. Such a Temporal
// does not answer before the test says so.

import type { Submission } from '../../src/engine/client';
import { createStarter, type Starter } from '../../src/tasks/create/starter';
import { releaseStart } from '../../src/tasks/pending.rows';
import { findTask } from '../../src/tasks/tasks.rows';
import { anAccountWith, storePending } from '../support/books';
import { aRequest, aTaskInput } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
let starter: Starter;
let answers: { taskId: string; answer: (outcome: Submission['outcome']) => void }[];
let delivered: string[] = [];
let accounts = 0;
beforeAll(async () => {
  database = await createTestDatabase(10);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  await database.db.raw('delete from callbacks');
  await database.db.raw('delete from tasks');
  answers = [];
  delivered = [];
});
afterEach(async () => {
  const closed = starter.close();
  for (const { answer } of answers) answer('accepted');
  await closed;
});

function begin(): void {
  const submit = ({ taskId }: { taskId: string }) =>
    new Promise<Submission>((resolve) => {
      answers.push({ taskId, answer: (outcome) => resolve({ outcome } as Submission) });
    });
  const deliverCallback = async (taskId: string) => void delivered.push(taskId);
  const temporal = { submit, deliverCallback };
  starter = createStarter(database.db, temporal, () => undefined);
}

/** Stores pending tasks that are due at once, the oldest first. */
async function aQueue(count: number): Promise<string[]> {
  accounts += 1;
  const accountId = await anAccountWith(database.db, `acct_${accounts}`, 0);
  const inputs = Array.from({ length: count }, (_, n) =>
    aTaskInput({ accountId, createdAtMs: Date.now() - 60_000 + n }),
  );
  for (const input of inputs) await storePending(database.db, input, { answered: true });
  for (const { taskId } of inputs) await releaseStart(database.db, taskId, 0);
  return inputs.map(({ taskId }) => taskId);
}

/** Submits tasks of creates that Temporal does not answer. */
async function unanswered(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const submitted = starter.submit(aTaskInput());
    answers.pop()?.answer('unanswered');
    await submitted;
  }
}

test('at most sixteen creates of an account start their tasks themselves at the same time', () => {
  begin();
  const starts = Array.from({ length: 16 }, () => starter.enter('a'));
  expect(starts).not.toContain(null);
  expect(starter.enter('a')).toBeNull();
  expect(starter.enter('b')).not.toBeNull();
  starts[3]?.leave();
  expect(starter.enter('a')).not.toBeNull();
  expect(starter.enter('a')).toBeNull();
});

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
    answers[n]?.answer('accepted');
    expect(answers.length - n).toBeLessThanOrEqual(16);
  }
  expect(answers.map(({ taskId }) => taskId).sort()).toEqual([...burst, ...quiet].sort());
  const ofBurst = answers.map(({ taskId }) => burst.indexOf(taskId)).filter((at) => at >= 0);
  expect(ofBurst.slice(0, 8).every((at) => at < 16)).toBe(true);
});

test('after three unanswered starts in a row no create starts its task, until a start of the loop is answered', async () => {
  begin();
  await unanswered(2);
  expect(starter.enter('a')).not.toBeNull();
  await unanswered(1);
  expect(starter.enter('a')).toBeNull();
  await aQueue(20);
  for (let n = 0; n < 50; n += 1) starter.wake();
  await until('one start probes', () => answers.length === 1);
  answers[0]?.answer('accepted');
  await until('the others follow', () => answers.length >= 16);
  expect(starter.enter('a')).not.toBeNull();
});

test('an answered start ends the row of unanswered starts', async () => {
  begin();
  await unanswered(2);
  const submitted = starter.submit(aTaskInput());
  answers.pop()?.answer('accepted');
  await submitted;
  await unanswered(2);
  expect(starter.enter('a')).not.toBeNull();
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
      'select extract(epoch from start_at - now())::float8 as left from tasks where id = ?',
      [first],
    );
    return (rows[0]?.left ?? 9) <= 5;
  });
  await until('it is started again', () => answers.length === 3);
  expect(answers[2]?.taskId).toBe(first);
});

test.each(['ended', 'accepted'] as const)(
  'if a start is answered with "%s" but the task is still pending, the task fails and its callback is sent',
  async (outcome) => {
    const [taskId = ''] = await aQueue(1);
    const request = aRequest({ metadata: { callback_url: 'https://a.example' } });
    const asked = JSON.stringify(request);
    await database.db.raw('update tasks set request = ? where id = ?', [asked, taskId]);
    begin();
    await until('it is started', () => answers.length === 1);
    answers[0]?.answer(outcome);
    await until('its callback is sent', () => delivered.includes(taskId));
    expect((await findTask(database.db, taskId))?.status).toBe('failed');
  },
);
