// One field against its schema, and the sentence for what is wrong with it: what was sent, what is wanted, what to send
// instead. Every message of a 400 that is about shape is built here.

import type { Refusal, RefusalCode } from './error';
import type { Field } from './request-schema';

/** null, and an empty list, count as absent. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** The value where it fits; undefined, with the faults noted, where it does not. */
export function readField<T>(
  field: Field,
  param: string,
  value: unknown,
  faults: Refusal[],
): T | undefined {
  if (isAbsent(value)) return undefined;
  const result = field.schema.safeParse(value);
  if (result.success) return result.data as T;
  faults.push(...fieldFaults(field, param, value, result.error.issues));
  return undefined;
}

interface Issue {
  readonly path: readonly PropertyKey[];
}

/** A fault of an element names the element (`images[3]`); several of one place count once. */
function fieldFaults(
  field: Field,
  param: string,
  value: unknown,
  issues: readonly Issue[],
): Refusal[] {
  const places = new Map<string, Refusal>();
  for (const { path } of issues) {
    let place = param;
    let sent = value;
    for (const key of path) {
      place += typeof key === 'number' ? `[${key}]` : `.${String(key)}`;
      sent = (sent as Record<PropertyKey, unknown>)?.[key];
    }
    const wanted = path.length === 0 ? field.wanted : elementWanted(field, path);
    places.set(place, invalid(place, `${wanted}; got ${show(sent)}.`));
  }
  return [...places.values()];
}

function elementWanted(field: Field, path: readonly PropertyKey[]): string {
  return path.length === 1 && typeof path[0] === 'number'
    ? 'must be a URL of at most 2048 characters, a non-empty string'
    : field.wanted;
}

export function invalid(
  param: string,
  sentence: string,
  code: RefusalCode = 'invalid_value',
): Refusal {
  return { code, param, message: `${param}: ${sentence}` };
}

// Long enough to recognise a value by, short enough that a megabyte is not sent back.
const shownMax = 60;

/** What was sent, as JSON, cut short. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'string' && value.length > shownMax) {
    const start = JSON.stringify(value.slice(0, shownMax));
    return `a string of ${value.length} characters starting with ${start}`;
  }
  return JSON.stringify(value) ?? String(value);
}
