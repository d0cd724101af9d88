/*
 * Reads the fields of a body and checks their types. As at the provider, documented fields are
 * checked strictly, other fields are ignored, and null counts as absent.
 */

import { isObject } from '../http';
import { invalid, missing } from '../protocol-error';

export type Body = Record<string, unknown>;

export function given(body: Body, name: string): unknown {
  return body[name] ?? undefined;
}

export function optionalString(body: Body, name: string, lengthMax: number): string | undefined {
  const value = given(body, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw invalid(name, 'it must be a string');
  if (value.length > lengthMax) throw invalid(name, `it is longer than ${lengthMax} characters`);
  return value;
}

export function requiredString(body: Body, name: string, lengthMax: number): string {
  const value = optionalString(body, name, lengthMax);
  if (value === undefined || value.trim() === '') throw missing(name);
  return value;
}

export function optionalBoolean(body: Body, name: string): boolean | undefined {
  const value = given(body, name);
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalid(name, 'it must be true or false');
}

export function optionalInteger(
  body: Body,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = given(body, name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw invalid(name, `it must be an integer from ${min} to ${max}`);
}

export function optionalWord<Word extends string>(
  body: Body,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = given(body, name);
  if (value === undefined) return undefined;
  const word = words.find((known) => known === value);
  if (word === undefined) throw invalid(name, `it must be one of ${words.join(', ')}`);
  return word;
}

export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Returns the URL from the object `{url: …}` inside a content element. */
export function innerUrl(element: Body, name: string, path: string): string {
  const inner = given(element, name);
  if (inner === undefined) throw missing(`${path}.${name}`);
  if (!isObject(inner)) throw invalid(`${path}.${name}`, 'it must be an object with a url');
  const url = given(inner, 'url');
  if (url === undefined || url === '') throw missing(`${path}.${name}.url`);
  if (typeof url !== 'string') throw invalid(`${path}.${name}.url`, 'it must be a string');
  return url;
}
