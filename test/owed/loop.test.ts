// The loop that does what is owed. Its rows are numbers in these tests; the duties have their own tests.

import { setTimeout as pause } from 'node:timers/promises';
import { createLoop, type Duty, type Loop } from '../../src/owed/loop';
import { until } from '../support/until';

let loop: Loop | undefined;
afterEach(() => loop?.close());

interface Played {
  readonly duty: Duty<number>;
  readonly due: number[];
  readonly done: number[];
  readonly errors: string[];
}

/** A duty whose rows are in a list. `fulfil` is called with each claimed row. */
function play(fulfil: (row: number) => Promise<boolean>, more: Partial<Duty<number>> = {}): Played {
  const due: number[] = [];
  const done: number[] = [];
  const errors: string[] = [];
  const duty: Duty<number> = {
    name: 'test',
    atOnce: 4,
    idleMs: 60_000,
    claim: async (limit) => due.splice(0, limit),
    fulfil: async (row) => {
      const isAnswered = await fulfil(row);
      done.push(row);
      return isAnswered;
    },
    ...more,
  };
  loop = createLoop(duty, (what) => errors.push(what));
  return { duty, due, done, errors };
}

const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth);

test('a woken loop does all that is due, and no more than so much at once', async () => {
  let [running, most] = [0, 0];
  const { due, done } = play(async () => {
    running += 1;
    most = Math.max(most, running);
    await pause(5);
    running -= 1;
    return true;
  });
  due.push(...numbers(50));
  loop?.wake();
  await until('all rows are done', () => done.length === 50);
  expect(most).toBe(4);
});

test('a loop that nobody wakes looks again after its pause', async () => {
  const { due, done } = play(async () => true, { idleMs: 20 });
  await pause(30);
  due.push(1);
  await until('the row is done', () => done.length === 1);
});

test('a duty that throws is reported, and the loop goes on with the other rows', async () => {
  const { due, done, errors } = play(async (row) => {
    if (row === 0) throw new Error('a defect');
    return true;
  });
  due.push(...numbers(10));
  loop?.wake();
  await until('the other rows are done', () => done.length === 9);
  expect(errors).toEqual(['test']);
});

test('a row whose duty was not done is postponed', async () => {
  const postponed: number[] = [];
  const postpone = async (row: number) => void postponed.push(row);
  const { due } = play(async (row) => row % 2 === 0, { postpone });
  due.push(...numbers(4));
  loop?.wake();
  await until('the odd rows are postponed', () => postponed.length === 2);
  expect(postponed.sort((a, b) => a - b)).toEqual([1, 3]);
});

test('a claim that fails is reported, and the loop claims again after its pause', async () => {
  let claims = 0;
  const claim = async () => {
    claims += 1;
    if (claims < 3) throw new Error('the database is away');
    return claims === 3 ? [1] : [];
  };
  const { done, errors } = play(async () => true, { claim, idleMs: 10 });
  await until('the row is done', () => done.length === 1);
  expect(errors).toEqual(['claim of test', 'claim of test']);
});

test('while the other side does not answer, the loop tries one row after each pause, and then all again', async () => {
  let isAway = true;
  const { due, done } = play(async () => !isAway, { idleMs: 20 });
  due.push(...numbers(4));
  loop?.wake();
  await until('the other side counts as away', () => loop?.isAway() === true && done.length === 4);
  due.push(...numbers(100));
  loop?.wake();
  await until('some rows are tried', () => done.length >= 6);
  expect(due.length).toBeGreaterThan(50);
  isAway = false;
  await until('all rows are done', () => due.length === 0 && done.length === 104);
  expect(loop?.isAway()).toBe(false);
});

test('failures are forgotten if nothing was due for half a minute', async () => {
  const { due, done } = play(async () => false);
  due.push(...numbers(4));
  loop?.wake();
  await until('the other side counts as away', () => loop?.isAway() === true && done.length === 4);
  const time = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 30_000);
  try {
    expect(loop?.isAway()).toBe(false);
    due.push(5);
    loop?.wake();
    await until('the next row is tried', () => done.length === 5);
    expect(loop?.isAway()).toBe(false);
  } finally {
    time.mockRestore();
  }
});

test('a loop that closes claims nothing more, and waits for its work in progress', async () => {
  let finish: (isAnswered: boolean) => void = () => undefined;
  const slow = new Promise<boolean>((resolve) => {
    finish = resolve;
  });
  const { due, done } = play(() => slow);
  due.push(...numbers(6));
  loop?.wake();
  await until('four rows are claimed', () => due.length === 2);
  const closed = loop?.close();
  finish(true);
  await closed;
  expect([done.length, due.length]).toEqual([4, 2]);
});
