// Parses `limit` and `after` of a list; a fault names a valid value.

import type { Refusal } from '../../contract/error';
import { Refused } from '../context';

const limitMax = 100;
const limitDefault = 20;

/**
 * An empty parameter counts as absent. A repeated one is refused, because its meaning is ambiguous.
 */
export function parameter(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  if (Array.isArray(value)) throw new Refused(invalid(name, `${name} may be given once only.`));
  return typeof value === 'string' && value !== '' ? value : null;
}

export function limitOf(query: Readonly<Record<string, unknown>>): number {
  const text = parameter(query, 'limit');
  if (text === null) return limitDefault;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= limitMax) return limit;
  throw new Refused(invalid('limit', `limit must be a number from 1 to ${limitMax}.`));
}

export function invalid(param: string, message: string): Refusal {
  return { code: 'invalid_value', param, message };
}
