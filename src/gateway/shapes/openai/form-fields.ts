// Turns the fields of a form into a JSON object: `metadata[seed]` is a nested field, `images[]` is an
// element of a list, and `tools[][type]` is a field of an object in a list. All values of a form are
// texts, so each text is read as the type that the field of our contract has. A text that has no
// field of ours is read as JSON, unless that would change it.

import type { Field } from '../../../contract/field';
import { boundsFault } from '../../../contract/json-bounds';
import { metadataFields } from '../../../contract/metadata-schema';
import { requestFields } from '../../../contract/request-schema';
import { digitsFault, type JsonObject } from '../../../contract/safe-json';
import { Refused } from '../../context';

export type FormFields = readonly (readonly [name: string, text: string])[];

/** A name of the form, and how many fields before this one have the same name. */
interface Named {
  readonly name: string;
  readonly nth: number;
}

const depthMax = 6;
// A longer number has more digits than can be kept. Without a limit, a text of 100 KB would be compared
// with a number for seconds.
const numberCharsMax = 25;
const asOneText = 'send metadata as one JSON text';

export function objectOf(fields: FormFields): JsonObject {
  const body: Record<string, unknown> = {};
  const counts = new Map<string, number>();
  for (const [name, text] of fields) {
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    place(body, pathOf(name), text, { name, nth });
  }
  refuseUneven(counts);
  return typed(body);
}

function pathOf(name: string): readonly string[] {
  const [, first = '', rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = '']) => part)];
  const isUnsafe = path.some((part) => /^(?:__proto__|constructor|prototype)$/.test(part));
  if (first === '' || isUnsafe) throw faulty(name, 'is no valid name.');
  if (path.length > depthMax) {
    throw faulty(name, `has more than ${depthMax} levels; ${asOneText}.`);
  }
  if (path.filter((part) => part === '').length > 1) {
    throw faulty(name, `is a list inside a list; ${asOneText}.`);
  }
  return path;
}

function place(
  at: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  text: string,
  named: Named,
): void {
  const found = Object.hasOwn(at, name) ? at[name] : undefined;
  const [next, ...inner] = rest;
  if (next === undefined) {
    if (found !== undefined) throw faulty(named.name, 'may be given once only; a list is name[].');
    at[name] = text;
  } else if (next === '') {
    const list = found ?? [];
    if (!Array.isArray(list)) throw faulty(named.name, 'is a list and a value.');
    at[name] = list;
    placeInList(list, inner, text, named);
  } else {
    const object = found ?? {};
    if (!isObject(object)) throw faulty(named.name, 'is a value and an object.');
    at[name] = object;
    place(object, rest, text, named);
  }
}

/**
 * The n-th field with a name belongs to the n-th object of its list. The client for Python sends the
 * fields with one name next to each other, and the client for Node sends one object after the other.
 */
function placeInList(list: unknown[], path: readonly string[], text: string, named: Named): void {
  const isOfValues = path.length === 0;
  if (list.length > 0 && isObject(list[0]) === isOfValues) {
    throw faulty(named.name, 'is a list of values and of objects.');
  }
  if (isOfValues) {
    list.push(text);
    return;
  }
  const element = (list[named.nth] ?? {}) as Record<string, unknown>;
  list[named.nth] = element;
  place(element, path, text, named);
}

/** A form does not show which objects of a list lack a field that others have. */
function refuseUneven(counts: ReadonlyMap<string, number>): void {
  const lengths = new Map<string, number>();
  for (const [name, count] of counts) {
    const list = /^(.*\[\])\[/.exec(name)?.[1];
    if (list === undefined) continue;
    if ((lengths.get(list) ?? count) !== count) {
      throw faulty(list, `has objects with different fields; ${asOneText}.`);
    }
    lengths.set(list, count);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faulty(name: string, sentence: string): Refused {
  const param = name.slice(0, 80);
  return new Refused({ code: 'invalid_value', param, message: `${param}: ${sentence}` });
}

function typed(body: JsonObject): JsonObject {
  const top = withTypes(body, requestFields, (value) => value);
  const { metadata } = top;
  return isObject(metadata)
    ? { ...top, metadata: withTypes(metadata, metadataFields, literalsIn) }
    : top;
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
      // A single tool counts as a list of one.
      const asSent = (one: unknown) => (name === 'tools' && isObject(one) ? [one] : one);
      const fits = (one: unknown) => field.schema.safeParse(asSent(one)).success;
      // A text stays a text if the field takes one.
      if (typeof value === 'string') return [name, fits(value) ? value : read(value, fits)];
      // An object may have fields inside that are not ours.
      return [name, [literalsIn(value), value].find(fits) ?? value];
    }),
  );
}

function read(text: string, fits: (value: unknown) => boolean): unknown {
  const value = jsonIn(text);
  return fits(value) ? value : text;
}

/** Reads each text as the JSON that it shows, unless a number would lose digits. */
function literalsIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(literalsIn);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, literalsIn(one)]));
  }
  if (typeof value !== 'string') return value;
  const read = jsonIn(value);
  return typeof read !== 'number' || keepsDigits(read, value) ? read : value;
}

/** Clients for Python send the number 7 as 7.0. */
function keepsDigits(read: number, text: string): boolean {
  if (text.length > numberCharsMax) return false;
  return String(read) === (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}

/** The JSON that a text shows; the text itself if it is not JSON, or more than a body may hold. */
function jsonIn(text: string): unknown {
  if (!/^(?:true|false|-?\d[\d.]*|[[{].*)$/s.test(text) || boundsFault(text) !== null) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const fault = typeof value === 'object' ? digitsFault(text) : null;
  if (fault === null) return value;
  throw new Refused({
    code: 'invalid_value',
    param: '',
    message: `A field is JSON, but ${fault}.`,
  });
}
