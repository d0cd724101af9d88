// Tests of the start slots. A create with a slot starts its workflow itself and waits for the
// answer. A create without a slot leaves the start to the starter.

import { createStartSlots } from '../../src/api/create/start-slots';

function slotsAt(clock: { ms: number }) {
  const slots = createStartSlots(() => clock.ms);
  const startUnanswered = (times: number) => {
    for (let n = 0; n < times; n += 1) slots.take('a')?.release(false);
  };
  const taken = (accountId: string, times: number) =>
    Array.from({ length: times }, () => slots.take(accountId)).filter((slot) => slot !== null);
  return { slots, startUnanswered, taken };
}

test('an account that is alone gets 16 start slots, and an account that comes later gets four', () => {
  const { taken } = slotsAt({ ms: 0 });
  expect(taken('a', 20)).toHaveLength(16);
  expect(taken('b', 20)).toHaveLength(4);
});

test('a start slot that was given back can be taken again', () => {
  const { taken } = slotsAt({ ms: 0 });
  const [first] = taken('a', 16);
  expect(taken('a', 1)).toEqual([]);
  first?.leave();
  expect(taken('a', 1)).toHaveLength(1);
});

test('after three unanswered starts in a row no create waits for its workflow, and one start per second tests Temporal', () => {
  const clock = { ms: 5_000 };
  const { slots, startUnanswered, taken } = slotsAt(clock);
  startUnanswered(2);
  expect(slots.take('a')?.isProbe).toBe(false);
  startUnanswered(1);
  const probes = taken('a', 50);
  expect(probes.map(({ isProbe }) => isProbe)).toEqual([true]);
  expect(slots.share(0).limit).toBe(0);
  clock.ms += 1_000;
  expect(slots.share(0).limit).toBe(1);
  expect(slots.enter('b').isProbe).toBe(true);
  expect(taken('a', 50)).toEqual([]);
});

test('after an answered probe, creates wait for their workflow again', () => {
  const clock = { ms: 5_000 };
  const { slots, startUnanswered } = slotsAt(clock);
  startUnanswered(3);
  slots.take('a')?.release(false);
  expect(slots.take('a')).toBeNull();
  clock.ms += 1_000;
  slots.take('a')?.release(true);
  expect(slots.take('a')?.isProbe).toBe(false);
});

test('after an answered start, the count of unanswered starts begins at zero again', () => {
  const { slots, startUnanswered } = slotsAt({ ms: 0 });
  startUnanswered(2);
  slots.take('a')?.release(true);
  startUnanswered(2);
  expect(slots.take('a')?.isProbe).toBe(false);
});

test('the starter gets the number of starts in progress of each account', () => {
  const { slots, taken } = slotsAt({ ms: 0 });
  taken('a', 16);
  expect(slots.share(10)).toEqual({ limit: 6, perAccountMax: 16, running: { a: 16 } });
  slots.take('b');
  expect(slots.share(16)).toEqual({ limit: 0, perAccountMax: 4, running: { a: 16, b: 1 } });
});

test('an account without a start for ten seconds no longer reduces the start slots of other accounts', () => {
  const clock = { ms: 0 };
  const { slots, taken } = slotsAt(clock);
  slots.take('b')?.release(true);
  expect(taken('a', 20)).toHaveLength(4);
  clock.ms += 10_001;
  expect(taken('a', 20)).toHaveLength(12);
});
