// Validates single fields of a request. Each message about a fault contains the expected value and
// the value sent. Rules between fields are in the parser, and the abilities of models are in the
// plan.

import type { z } from 'zod';
import type { Refusal, RefusalCode } from './error';

/** One field of a request: its schema, and its rule in words for the caller. */
export interface Field {
  readonly schema: z.ZodType;
  readonly wanted: string;
  /** The rule in words for one element, if the field is a list. */
  readonly each?: string;
}

export interface Fault extends Refusal {
  /** The path of the field that was meant, if `param` is a misspelt name. */
  readonly meant?: string;
}

// A longer list gets one fault, and its elements are not checked. All valid lists are much shorter.
// Without this limit, thousands of faulty elements would cause thousands of faults.
const lookedAtMax = 100;

/** null and an empty list count as absent. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/**
 * Returns the value if it is valid, and undefined if it is absent. An invalid value adds its faults
 * to `faults` and also returns undefined.
 */
export function readField<T>(
  field: Field,
  param: string,
  value: unknown,
  faults: Refusal[],
): T | undefined {
  if (isAbsent(value)) return undefined;
  if (Array.isArray(value) && value.length > lookedAtMax) {
    faults.push(invalid(param, `${field.wanted}; got ${show(value)}.`));
    return undefined;
  }
  const result = field.schema.safeParse(value);
  if (result.success) return result.data as T;
  faults.push(...fieldFaults(field, param, value, result.error.issues));
  return undefined;
}

/** The valid fields of an object by name. Absent and faulty fields are left out. */
export function readFields<T>(
  fields: Readonly<Record<string, Field>>,
  path: string,
  sent: Readonly<Record<string, unknown>>,
  faults: Refusal[],
): Partial<T> {
  const found: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    // Most fields are absent, and each path is a new text.
    if (isAbsent(sent[name])) continue;
    const value = readField(field, `${path}.${name}`, sent[name], faults);
    if (value !== undefined) found[name] = value;
  }
  return found as Partial<T>;
}

interface Issue {
  readonly path: readonly PropertyKey[];
}

/**
 * A fault of an element names the element (`images[3]`). Several faults of one element count as
 * one.
 */
function fieldFaults(
  field: Field,
  param: string,
  value: unknown,
  issues: readonly Issue[],
): Refusal[] {
  const faults = new Map<string, Refusal>();
  for (const { path } of issues) {
    let named = param;
    let sent = value;
    for (const key of path) {
      named += typeof key === 'number' ? `[${key}]` : `.${String(key)}`;
      sent = (sent as Record<PropertyKey, unknown>)?.[key];
    }
    const wanted = path.length > 0 ? (field.each ?? field.wanted) : field.wanted;
    faults.set(named, invalid(named, `${wanted}; got ${show(sent)}.`));
  }
  return [...faults.values()];
}

export function invalid(
  param: string,
  sentence: string,
  code: RefusalCode = 'invalid_value',
): Refusal {
  return { code, param, message: `${param}: ${sentence}` };
}

/** A fault for each name that a flat body may not have. */
export function unknownFields(sent: object, fields: object): Refusal[] {
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(fields, name));
  return unknown.map((name) => invalid(name, 'there is no such field.'));
}

/** The fault for an unknown name that resembles the field `meant`. */
export function misspelt(param: string, meant: string): Fault {
  return { ...invalid(param, `there is no such field; did you mean "${meant}"?`), meant };
}

// The number of characters of a sent string that a message shows. They are enough to recognise the
// string.
const shownMax = 60;

/**
 * The value as a message shows it: JSON for short values, a description for arrays, objects and
 * long strings.
 */
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

/** The accepted words in the form in which a message lists them. */
export const words = (list: readonly string[]) => list.map((word) => `"${word}"`).join(', ');

/** The schemas of these fields, where each field may also be absent or null. */
export function optionals(fields: Readonly<Record<string, Field>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => {
      // The description is repeated on the outer schema, where document viewers show it.
      const { id: _, ...meta } = schema.meta() ?? {};
      return [name, schema.nullish().meta(meta)];
    }),
  );
}
