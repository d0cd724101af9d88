// A start of which nobody knows whether it arrived: cancelled when it did, unless its caller has
// come back for it.

import { createUnknownStarts } from '../../src/api/unknown-starts';
import { listUnknownStarts } from '../../src/db/unknown-starts';
import type { Engine, EngineTask } from '../../src/temporal';
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

test('a start that arrives late is found and cancelled, once', async () => {
  const id = aTaskId();
  const { starts, cancelled } = play('unavailable', 'unknown', task('mine'));
  starts.begin(id, 'mine');
  await until('it is cancelled', () => cancelled.length === 1);
  expect(await open(id)).toBe(false);
});

test('a start whose caller came back is left alone', async () => {
  const id = aTaskId();
  const { starts, asked, cancelled } = play('unknown', task('mine'));
  starts.begin(id, 'mine');
  await until('it was looked for', () => asked.length === 1);
  await starts.takeBack(id);
  await until('it was looked for again', () => asked.length === 2);
  await until('the look is over', async () => !(await open(id)));
  expect(cancelled).toEqual([]);
});

test('a task that another call started under the same id is not ours to cancel', async () => {
  const id = aTaskId();
  const { starts, asked, cancelled } = play(task('another'));
  starts.begin(id, 'mine');
  await until('it was looked for', () => asked.length === 1);
  await until('it is noted and let go', async () => !(await open(id)));
  expect(cancelled).toEqual([]);
});

test('what an API does not live to find out is there for the sweep', async () => {
  const id = aTaskId();
  const { starts, asked } = play('unavailable');
  starts.begin(id, 'mine');
  await until('it was looked for', () => asked.length > 0);
  expect(await open(id)).toBe(true);
});
