// One field against its schema, and the sentence for what is wrong with it: what was sent, what is
// wanted, what to send instead. Every message of a 400 that is about shape is built here.

import type { z } from 'zod';
import type { Refusal, RefusalCode } from './error';

/** One field of a request: what it must be, for the validator and for the caller. */
export interface Field {
  readonly schema: z.ZodType;
  readonly wanted: string;
  /** The same for one element, where the field is a list of plain values. */
  readonly each?: string;
}

// No list that is taken is nearly as long; a megabyte of elements shall not become a megabyte of
// faults.
const lookedAtMax = 100;

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
  if (Array.isArray(value) && value.length > lookedAtMax) {
    faults.push(invalid(param, `${field.wanted}; got ${show(value)}.`));
    return undefined;
  }
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
    const wanted = path.length === 1 ? (field.each ?? field.wanted) : field.wanted;
    places.set(place, invalid(place, `${wanted}; got ${show(sent)}.`));
  }
  return [...places.values()];
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

/** A closed list as a message shows it. */
export const words = (list: readonly string[]) => list.map((word) => `"${word}"`).join(', ');

/** Every field may be left out, or be null, which counts as left out. */
export function optionals(fields: Readonly<Record<string, Field>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => {
      // Said again where documents show it: beside the null, not inside the alternatives.
      const { id: _, ...meta } = schema.meta() ?? {};
      return [name, schema.nullish().meta(meta)];
    }),
  );
}
