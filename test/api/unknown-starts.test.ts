// A start of which nobody knows whether it arrived: told to its caller where the row knows it,
// cancelled when it arrives later, unless its caller has come back for it.

import { createUnknownStarts } from '../../src/api/unknown-starts';
import { connect } from '../../src/db/database';
import { closeTask, openTask } from '../../src/db/ledger';
import { listUnknownStarts } from '../../src/db/unknown-starts';
import type { Engine, EngineTask } from '../../src/temporal';
import { aClosing, anAccountWith, anOpening } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { until } from '../support/until';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

const task = (nonce: string, open = true): EngineTask => ({
  accountId: 'a',
  requestHash: 'h',
  traceId: 't',
  model: 'm',
  startedAtMs: 0,
  nonce,
  open,
});

/** An engine that answers one thing after another, the last one for ever. */
function play(...answers: (EngineTask | 'unknown' | 'unavailable')[]) {
  const asked: string[] = [];
  const cancelled: string[] = [];
  const engine: Pick<Engine, 'describe' | 'cancel'> = {
    async describe(id) {
      asked.push(id);
      return answers[Math.min(asked.length, answers.length) - 1] ?? 'unknown';
    },
    async cancel(id) {
      cancelled.push(id);
      return 'asked';
    },
  };
  const errors: unknown[] = [];
  const starts = createUnknownStarts(database.db, engine, (error) => errors.push(error));
  return { starts, asked, cancelled };
}

const open = async (id: string) =>
  (await listUnknownStarts(database.db, -1, 1_000)).some(({ taskId }) => taskId === id);

async function stored(id: string, close?: 'succeeded' | 'failed'): Promise<void> {
  const accountId = await anAccountWith(database.db, `acct_${id}`, 1_000);
  await openTask(database.db, anOpening(accountId, id, 10));
  if (close) await closeTask(database.db, aClosing(id, 10, close === 'failed' ? null : 7));
}

test('a start that arrives late is found and cancelled once, and noted until it has ended', async () => {
  const id = aTaskId();
  const { starts, asked, cancelled } = play('unavailable', task('mine'));
  expect(await starts.begin(id, 'mine')).toBe('noted');
  await until('it is cancelled', () => cancelled.length === 1);
  expect(await open(id)).toBe(true);
  // The next look would come four seconds later.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  expect([asked, cancelled, await open(id)]).toEqual([[id, id], [id], true]);
});

test.each([[undefined], ['succeeded']] as const)(
  'a start whose row is there (%s) is told to its caller, and not cancelled',
  async (close) => {
    const id = aTaskId();
    const { starts, asked } = play(task('mine'));
    await stored(id, close);
    expect(await starts.begin(id, 'mine')).toMatchObject({ id, status: close ?? 'submitted' });
    expect(await open(id)).toBe(false);
    expect(asked).toEqual([]);
  },
);

test('a start whose task has failed meanwhile is answered as unknown: it costs nothing', async () => {
  const id = aTaskId();
  const { starts } = play(task('mine', false));
  await stored(id, 'failed');
  expect(await starts.begin(id, 'mine')).toBe('noted');
  await until('it is forgotten', async () => !(await open(id)));
});

test('a start that cannot be noted is not called free', async () => {
  const nowhere = connect({
    url: 'postgres://nobody@127.0.0.1:1/nothing',
    poolMax: 1,
    applicationName: 'test',
  });
  const errors: unknown[] = [];
  const engine = { describe: async () => 'unknown' as const, cancel: async () => 'asked' as const };
  const starts = createUnknownStarts(nowhere, engine, (error) => errors.push(error));
  expect(await starts.begin(aTaskId(), 'mine')).toBe('not noted');
  expect(errors).toHaveLength(1);
  await nowhere.destroy();
});

test('a start whose caller came back is left alone', async () => {
  const id = aTaskId();
  const { starts, asked, cancelled } = play('unknown', task('mine'));
  await starts.begin(id, 'mine');
  await until('it was looked for', () => asked.length === 1);
  await starts.takeBack(id);
  await until('it was looked for again', () => asked.length === 2);
  await until('the look is over', async () => !(await open(id)));
  expect(cancelled).toEqual([]);
});

test('a task that another call started under the same id is not ours to cancel', async () => {
  const id = aTaskId();
  const { starts, asked, cancelled } = play(task('another'));
  await starts.begin(id, 'mine');
  await until('it was looked for', () => asked.length === 1);
  await until('it is noted and let go', async () => !(await open(id)));
  expect(cancelled).toEqual([]);
});

test('what an API does not live to find out is there for the sweep', async () => {
  const id = aTaskId();
  const { starts, asked } = play('unavailable');
  await starts.begin(id, 'mine');
  await until('it was looked for', () => asked.length > 0);
  expect(await open(id)).toBe(true);
});
