// `limit` and `after` of a list, with faults that say what to send.

import type { Refusal } from '../contract/error';
import { Refused } from './context';

const limitMax = 100;
const limitDefault = 20;

/** The first of a repeated parameter counts; an empty one is an absent one. */
export function parameter(query: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
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
