// Turns the fields of a form into a JSON object: `metadata[seed]` is a nested field, and `images[]`
// is an element of a list. All values of a form are texts, so each text is read as the type that the
// field of our contract has.

import type { Field } from '../../../contract/field';
import { boundsFault } from '../../../contract/json-bounds';
import { metadataFields } from '../../../contract/metadata-schema';
import { requestFields } from '../../../contract/request-schema';
import type { JsonObject } from '../../../contract/safe-json';
import { Refused } from '../../context';

export type FormFields = readonly (readonly [name: string, text: string])[];

const depthMax = 4;

export function objectOf(fields: FormFields): JsonObject {
  const body: Record<string, unknown> = {};
  for (const [name, text] of fields) place(body, pathOf(name), text, name);
  return typed(body);
}

function pathOf(name: string): readonly string[] {
  const [, first = '', rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = '']) => part)];
  const isUnsafe = path.some((part) => /^(?:__proto__|constructor|prototype)$/.test(part));
  if (first === '' || isUnsafe || path.length > depthMax) throw faulty(name, 'is no valid name.');
  return path;
}

function place(
  at: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  text: string,
  full: string,
) {
  const found = Object.hasOwn(at, name) ? at[name] : undefined;
  if (rest.length === 0) {
    if (found !== undefined) throw faulty(full, 'may be given once only; a list is name[].');
    at[name] = text;
    return;
  }
  if (rest.length === 1 && rest[0] === '') {
    if (found !== undefined && !Array.isArray(found)) throw faulty(full, 'is a list and a value.');
    at[name] = [...((found as unknown[] | undefined) ?? []), text];
    return;
  }
  if (found !== undefined && (typeof found !== 'object' || Array.isArray(found))) {
    throw faulty(full, 'is a value and an object.');
  }
  const inner = (found ?? {}) as Record<string, unknown>;
  at[name] = inner;
  place(inner, rest, text, full);
}

function faulty(name: string, sentence: string): Refused {
  const param = name.slice(0, 80);
  return new Refused({ code: 'invalid_value', param, message: `${param}: ${sentence}` });
}

function typed(body: JsonObject): JsonObject {
  const top = withTypes(body, requestFields, (value) => value);
  const { metadata } = top;
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return top;
  return { ...top, metadata: withTypes(metadata as JsonObject, metadataFields, literal) };
}

function withTypes(
  body: JsonObject,
  fields: Readonly<Record<string, Field>>,
  otherwise: (value: unknown) => unknown,
): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (!field) return [name, otherwise(value)];
      const fits = (one: unknown) => field.schema.safeParse(one).success;
      return [name, [value, literal(value), literalsIn(value)].find(fits) ?? value];
    }),
  );
}

/** The JSON that a text shows; the text itself if it is not JSON, or more than a body may hold. */
function literal(value: unknown): unknown {
  if (typeof value !== 'string' || !/^(?:true|false|-?\d[\d.]*|[[{].*)$/s.test(value)) return value;
  if (boundsFault(value) !== null) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function literalsIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(literalsIn);
  if (typeof value !== 'object' || value === null) return literal(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, literalsIn(one)]));
}
