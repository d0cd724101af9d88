// Tests the times of callback attempts, and the meaning of the answer of a receiver.

import fc from 'fast-check';
import { attemptsMax, nextGapMs, verdictOf } from '../../src/callbacks/schedule.rules';
import { retryAfterMs } from '../../src/outbound/retry-after.rules';

const hour = 3_600_000;

test('the gaps between callback attempts are those of the published schedule', () => {
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  const gaps = minutes.map((_, index) => nextGapMs(index + 1, 0, null));
  expect(gaps).toEqual(minutes.map((gap) => gap * 60_000));
  expect(nextGapMs(attemptsMax, 0, null)).toBeNull();
});

test.each([
  [1, null, 5_000],
  [1, 60_000, 60_000],
  [1, 24 * hour, 300_000], // at most the next gap of the schedule
  [8, 48 * hour, 24 * hour],
  [9, null, 24 * hour],
  [9, 168 * hour, 24 * hour], // at most one day
  [10, null, null],
])(
  'the gap after callback attempt %i with `Retry-After` %p is %p ms (null: no further attempt)',
  (attempt, retryAfter, gap) => {
    expect(nextGapMs(attempt, 0, retryAfter)).toBe(gap);
  },
);

test('the jitter makes a gap longer by at most a fifth, and `Retry-After` never shortens a gap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.option(fc.integer({ min: 0, max: 200 * hour })),
      (attempt, chance, retryAfter) => {
        const plain = nextGapMs(attempt, 0, null) ?? 0;
        const alone = nextGapMs(attempt, chance, null) ?? 0;
        const asked = nextGapMs(attempt, chance, retryAfter) ?? 0;
        expect(alone).toBeGreaterThanOrEqual(plain);
        expect(alone).toBeLessThanOrEqual(plain * 1.2 + 1);
        expect(asked).toBeGreaterThanOrEqual(alone);
        expect(asked).toBeLessThanOrEqual(Math.max(alone, 24 * hour));
      },
    ),
  );
});

const now = Date.UTC(2030, 0, 1);
test.each([
  [undefined, null],
  ['', null],
  ['0', 0],
  ['120', 120_000],
  ['soon', null],
  ['1.5e3x', null],
  [new Date(now + 5_000).toUTCString(), 5_000],
  [new Date(now - 5_000).toUTCString(), 0],
])('the header `Retry-After` %p is read as %p ms (null: ignored)', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [199, 'again'],
  [300, 'again'],
  [301, 'again'],
  [400, 'again'],
  [404, 'again'],
  [410, 'stopped'],
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
  [null, 'again'],
])('the outcome of a callback attempt with the answer status %p is "%s"', (status, verdict) => {
  expect(verdictOf(status)).toBe(verdict);
});
