// Who is worked on and who waits, when one account creates much and another little.

import { limitInFlight } from '../../src/api/in-flight';

let nowMs = 0;
let ends: Map<string, (() => void)[]>;
let inFlight: ReturnType<typeof limitInFlight>;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
  nowMs = 0;
  ends = new Map();
  inFlight = limitInFlight(64, () => nowMs);
});
// Who is still in line at a test's end is never told to come back.
afterEach(() => jest.useRealTimers());

/** A create that is worked on until `finish` ends it. */
function create(accountId: string): Promise<unknown> {
  return inFlight.during(accountId, () => {
    return new Promise<void>((resolve) => ends.set(accountId, [...working(accountId), resolve]));
  });
}

const tooMany = {
  outcome: 'refused',
  refusal: { code: 'rate_limited', message: expect.stringContaining('as many as it may have') },
  headers: { 'ratelimit-limit': '64' },
};

const working = (accountId: string) => ends.get(accountId) ?? [];

async function creates(accountId: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) void create(accountId);
  await settled();
}

async function finish(accountId: string, count: number): Promise<void> {
  for (const end of working(accountId).splice(0, count)) end();
  await settled();
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('an account that is alone has sixteen worked on, the others follow one by one', async () => {
  await creates('burst', 40);
  expect(working('burst')).toHaveLength(16);
  await finish('burst', 5);
  expect(working('burst')).toHaveLength(16);
  for (let n = 0; n < 7; n += 1) await finish('burst', 5);
  expect(working('burst')).toHaveLength(0);
});

test('beside a burst the only create of another account is worked on at once', async () => {
  await creates('burst', 40);
  await creates('single', 1);
  expect(working('single')).toHaveLength(1);
});

test('while another account is there a burst has four worked on, and sixteen again afterwards', async () => {
  await creates('burst', 60);
  await creates('single', 1);
  await finish('single', 1);
  await finish('burst', 14);
  expect(working('burst')).toHaveLength(4);
  nowMs += 10_001;
  await creates('burst', 1);
  expect(working('burst')).toHaveLength(16);
});

test('who has as many under way as he may have is refused, and nobody else', async () => {
  await creates('burst', 64);
  await expect(create('burst')).resolves.toMatchObject(tooMany);
  await creates('single', 1);
  expect(working('single')).toHaveLength(1);
  await finish('burst', 1);
  await creates('burst', 1);
});

test('who stands in line for five seconds is told to come back, and takes nobody a place', async () => {
  await creates('burst', 16);
  const late = expect(create('burst')).resolves.toMatchObject(tooMany);
  jest.advanceTimersByTime(5_001);
  await late;
  await finish('burst', 1);
  expect(working('burst')).toHaveLength(15);
  await creates('burst', 2);
  expect(working('burst')).toHaveLength(16);
});

test('a create that fails makes room like one that does not', async () => {
  const failing = inFlight.during('a', () => Promise.reject(new Error('no')));
  await expect(failing).rejects.toThrow('no');
  await creates('a', 17);
  expect(working('a')).toHaveLength(16);
});
