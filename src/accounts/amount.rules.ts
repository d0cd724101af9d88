// Converts money between its two forms: integer micro-units inside the service, and decimal strings
// with six places in the API and the commands. Nothing is rounded. A text that cannot be converted
// exactly is refused with the reason. The functions at the end are for exact products.

import { assert } from '../assert';

export function formatMicros(micros: number): string {
  assert(Number.isSafeInteger(micros), `${micros} is a whole number of micro-units`);
  const digits = String(Math.abs(micros)).padStart(7, '0');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

type ParsedAmount =
  | { readonly micros: number; readonly fault?: undefined }
  | { readonly micros?: undefined; readonly fault: string };

/** Reads a positive amount such as `100`, `100.00` or `0.000001`. */
export function parseAmount(text: string): ParsedAmount {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (!match) return { fault: `"${text}" is not an amount; write it like 100.00` };
  const [, sign, whole = '', fraction = ''] = match;
  if (fraction.length > 6) return { fault: `"${text}" has more than six decimal places` };
  const micros = Number(BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0')));
  if (!Number.isSafeInteger(micros)) return { fault: `"${text}" is too large` };
  if (sign === '-') return { fault: `"${text}" is negative; an amount is positive` };
  if (micros === 0) return { fault: 'An amount of nothing moves nothing' };
  return { micros };
}

/**
 * A factor of the catalogue as an integer number of hundredths. The catalogue's check allows at
 * most two decimals.
 */
export function hundredths(factor: number): number {
  const whole = Math.round(factor * 100);
  assert(Math.abs(factor * 100 - whole) < 1e-6, `${factor} has two decimals at most`);
  return whole;
}

export function ceilDivide(dividend: bigint, divisor: bigint): number {
  const value = Number((dividend + divisor - 1n) / divisor);
  assert(Number.isSafeInteger(value), 'an amount is a safe integer');
  return value;
}
