// Reads the query of a list. All faults of a query are reported together, each with its parameter
// and a valid value.

import { oneRefusal } from '../contract/faults';
import type { Fault } from '../contract/field';
import { invalid, show } from '../contract/field';
import { Refused } from './context';
import type { Query } from './query';

export interface QueryReader {
  readonly names: readonly string[];
  /**
   * The text of a parameter; null if it is absent or repeated. An empty text is returned too, so that
   * it can be refused: it is mostly a variable without a value in the program of the caller.
   */
  text(name: string): string | null;
  /**
   * Records a fault. Only the first fault of each parameter is kept. Always returns null, so that
   * the reader of a parameter can return the result of this call instead of a value.
   */
  fault(name: string, sentence: string): null;
}

const limitMax = 100;
const limitDefault = 20;
// Names of parameters come from the caller, so a fault shows only their beginning.
const nameShownMax = 80;

/** Returns the result of `read`, or refuses the query if `read` recorded a fault. */
export function readQuery<T>(query: Query, read: (reader: QueryReader) => T): T {
  const faults = new Map<string, Fault>();
  const fault = (name: string, sentence: string) => {
    const param = name.slice(0, nameShownMax);
    if (!faults.has(param)) faults.set(param, invalid(param, sentence));
    return null;
  };
  // A repeated parameter is refused, because its meaning is ambiguous.
  const given = (name: string) => {
    const text = query[name];
    if (Array.isArray(text)) return fault(name, 'may be given once only.');
    return typeof text === 'string' ? text : null;
  };
  const value = read({
    names: Object.keys(query),
    fault,
    text: given,
  });
  if (faults.size > 0) throw new Refused(oneRefusal([...faults.values()]));
  return value;
}

/**
 * Refuses unknown parameters. If a misspelt filter were ignored, a list would contain what the caller
 * wants to exclude.
 */
export function refuseUnknown(
  { names, fault }: QueryReader,
  parameters: readonly string[],
  labelPrefix?: string,
): void {
  const others = labelPrefix === undefined ? '' : ` and ${labelPrefix}NAME`;
  const known = `${parameters.join(', ')}${others}`;
  for (const name of names) {
    if (parameters.includes(name)) continue;
    if (labelPrefix !== undefined && name.startsWith(labelPrefix)) continue;
    fault(name, `there is no such parameter; the parameters are ${known}.`);
  }
}

export function limitOf(reader: QueryReader): number {
  const text = reader.text('limit');
  if (text === null) return limitDefault;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= limitMax) return limit;
  reader.fault('limit', `must be a number from 1 to ${limitMax}; got ${show(text)}.`);
  return limitDefault;
}

/**
 * Reads the parameter `after`. `parse` must return null for a text that cannot be the `next` of a
 * page.
 */
export function afterOf<T>(reader: QueryReader, parse: (text: string) => T | null): T | null {
  const text = reader.text('after');
  if (text === null) return null;
  const wanted = 'must be the "next" of the page before';
  return parse(text) ?? reader.fault('after', `${wanted}; got ${show(text)}.`);
}
