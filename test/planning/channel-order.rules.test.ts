// The order in which the channels of a task are tried.

import { drawnOrder } from '../../src/planning/channel-order.rules';

const choice = (channel: string, weight?: number) => ({
  ...{ channel, upstreamModel: 'm' },
  ...(weight === undefined ? {} : { weight }),
});
const seeds = Array.from({ length: 4_000 }, (_, at) => at * 7_919);
const orders = (choices: ReturnType<typeof choice>[]) =>
  seeds.map((seed) => drawnOrder(choices, seed).map(({ channel }) => channel));

function shareOf(drawn: readonly (readonly string[])[], first: string): number {
  return drawn.filter(([channel]) => channel === first).length / drawn.length;
}

test('without weights the order of the catalogue counts', () => {
  const drawn = orders([choice('c'), choice('a'), choice('b')]);
  expect(drawn.every((order) => order.join() === 'c,a,b')).toBe(true);
});

test('with weights each channel is first as often as its weight says, and the others follow', () => {
  const drawn = orders([choice('a', 6), choice('b', 3), choice('c', 1)]);
  expect(shareOf(drawn, 'a')).toBeCloseTo(0.6, 1);
  expect(shareOf(drawn, 'b')).toBeCloseTo(0.3, 1);
  expect(shareOf(drawn, 'c')).toBeCloseTo(0.1, 1);
  expect(drawn.every((order) => [...order].sort().join() === 'a,b,c')).toBe(true);
});

test('the keys of a channel share its jobs, and come before the next channel', () => {
  const drawn = orders([choice('a'), choice('a:K2'), choice('a:K3'), choice('b')]);
  for (const key of ['a', 'a:K2', 'a:K3']) expect(shareOf(drawn, key)).toBeCloseTo(1 / 3, 1);
  expect(drawn.every((order) => order[3] === 'b')).toBe(true);
});

test('more keys give a channel no larger weight', () => {
  const drawn = orders([choice('a', 1), choice('a:K2', 1), choice('b', 1)]);
  expect(shareOf(drawn, 'b')).toBeCloseTo(0.5, 1);
});

test('the same seed gives the same order', () => {
  const choices = [choice('a', 1), choice('b', 1), choice('c', 1)];
  expect(orders(choices)).toEqual(orders(choices));
});
