// Tests amounts as text and as numbers. An amount must keep its value in both forms. An amount that
// cannot be stored exactly must be refused with the reason. fast-check prints the seed of a
// failure.

import fc from 'fast-check';
import { formatMicros, parseAmount } from '../../src/accounts/amount.rules';

const runs = { numRuns: 2_000 };
const micros = fc.maxSafeInteger();

test('every amount is formatted with six places and parsed back to itself', () => {
  fc.assert(
    fc.property(micros, (amount) => {
      const shown = formatMicros(amount);
      expect(shown).toMatch(/^-?\d+\.\d{6}$/);
      expect(BigInt(shown.replace('.', ''))).toBe(BigInt(amount));
      if (amount > 0) expect(parseAmount(shown)).toEqual({ micros: amount });
      else expect(parseAmount(shown).micros).toBeUndefined();
    }),
    runs,
  );
});

test('adding two formatted amounts gives the same result as formatting their sum', () => {
  const half = fc.integer({ min: -(2 ** 51), max: 2 ** 51 });
  const asBigInt = (shown: string) => BigInt(shown.replace('.', ''));
  fc.assert(
    fc.property(half, half, (a, b) => {
      const sum = asBigInt(formatMicros(a)) + asBigInt(formatMicros(b));
      expect(asBigInt(formatMicros(a + b))).toBe(sum);
    }),
    runs,
  );
});

test('trailing and leading zeros do not change an amount', () => {
  const zeros = fc.nat(4).map((count) => '0'.repeat(count));
  const fraction = fc.stringMatching(/^\d{0,6}$/);
  fc.assert(
    fc.property(zeros, fc.integer({ min: 1, max: 10 ** 9 }), fraction, (front, units, places) => {
      const text = `${front}${units}${places ? `.${places}` : ''}`;
      const expected = units * 1_000_000 + Number(places.padEnd(6, '0'));
      expect(parseAmount(text)).toEqual({ micros: expected });
      expect(parseAmount(` ${text} `)).toEqual({ micros: expected });
    }),
    runs,
  );
});

test('any text parses to a positive whole number of micro-units or to one fault', () => {
  const nearly = fc.stringMatching(/^[-+ ]?[\d.,eE_ x]{0,20}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), nearly), (text) => {
      const { micros: found, fault } = parseAmount(text);
      if (fault === undefined) {
        expect(Number.isSafeInteger(found) && found > 0).toBe(true);
        expect(text.trim()).toMatch(/^\d+(\.\d{1,6})?$/);
      } else {
        expect(found).toBeUndefined();
        expect(fault.length).toBeGreaterThan(10);
      }
    }),
    runs,
  );
});

test.each([
  ['100', 100_000_000],
  ['100.00', 100_000_000],
  ['0.000001', 1],
  ['007.5', 7_500_000],
  ['9007199254.740991', Number.MAX_SAFE_INTEGER],
])('the amount %s is parsed as %i micro-units', (text, expected) => {
  expect(parseAmount(text)).toEqual({ micros: expected });
});

test.each([
  ['-1', /negative/],
  ['-0.000001', /negative/],
  ['0', /nothing/],
  ['0.000000', /nothing/],
  ['0.0000001', /more than six decimal places/],
  ['1.0000000', /more than six decimal places/],
  ['9007199254.740992', /too large/],
  ['9'.repeat(400), /too large/],
  ['1,000.00', /not an amount/],
  ['1e3', /not an amount/],
  ['0x10', /not an amount/],
  ['1_000', /not an amount/],
  ['+5', /not an amount/],
  ['.5', /not an amount/],
  ['5.', /not an amount/],
  ['Infinity', /not an amount/],
  ['NaN', /not an amount/],
  ['', /not an amount/],
  ['١٠', /not an amount/],
  ['100 USD', /not an amount/],
  ['¥100', /not an amount/],
])('the amount "%s" is refused with the reason', (text, reason) => {
  expect(parseAmount(text).fault).toMatch(reason);
});

test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1])(
  'the number %p is refused as an amount in micro-units',
  (amount) => {
    expect(() => formatMicros(amount)).toThrow(/whole number of micro-units/);
  },
);

test('zero is formatted without a sign', () => {
  expect([formatMicros(0), formatMicros(-0)]).toEqual(['0.000000', '0.000000']);
});
