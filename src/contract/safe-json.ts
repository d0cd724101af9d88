// Parses JSON from callers: the body, and metadata sent as a string. The text must be an object of
// limited depth and size. Names such as `__proto__` are refused. NUL, lone surrogates and numbers
// without end are refused, because PostgreSQL, UTF-8 or JSON cannot store them. A whole number that
// would lose digits is refused too. If a name appears twice, the last value is used, as in
// JSON.parse.

import secureJson from 'secure-json-parse';
import { boundsFault } from './json-bounds';
import { jsonFault } from './json-fault';

export type JsonObject = Readonly<Record<string, unknown>>;
type SafeJson =
  | { readonly value: JsonObject; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: string };

export function parseSafeJson(text: string): SafeJson {
  const tooMuch = boundsFault(text);
  if (tooMuch !== null) return { fault: tooMuch };
  let value: unknown;
  try {
    value = secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    // The parser throws for forbidden names and for invalid JSON. This test only chooses the
    // message.
    const forbidden = /forbidden prototype/i.test(String(error));
    return { fault: forbidden ? 'it holds a forbidden property name' : jsonFault(text) };
  }
  if (!isJsonObject(value)) return { fault: `it is ${kindOf(value)}` };
  // NUL and lone surrogates can only arrive as \u escapes: raw ones are invalid JSON or invalid
  // UTF-8.
  const isUnsure = text.includes('\\u') || largeNumber.test(text);
  const fault = (isUnsure ? faultIn(value) : null) ?? digitsFault(text);
  return fault === null ? { value } : { fault };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

// Only such a number may be read as infinite.
const largeNumber = /[eE]\+?\d{2}|\d{300}/;

const manyDigits = /\d{16}/;
// So many digits of a number are enough to find it in the body.
const digitsShownMax = 40;
const stringOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * Describes a whole number of valid JSON that would be written with other digits than it was read.
 * Every number of less than 16 digits is exact.
 */
export function digitsFault(json: string): string | null {
  if (!manyDigits.test(json)) return null;
  for (const [token] of json.matchAll(stringOrNumber)) {
    if (/^-?\d{16,}$/.test(token) && String(Number(token)) !== token) {
      const shown = token.length > digitsShownMax ? `${token.slice(0, digitsShownMax)}…` : token;
      return `it holds the number ${shown}, which has too many digits to be kept exactly; send it as a text`;
    }
  }
  return null;
}

/** Recursion is safe here, because json-bounds.ts has limited the depth. */
function faultIn(value: unknown): string | null {
  if (typeof value === 'string') return textFault(value);
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    return 'a number in it is larger than any number that can be read';
  }
  if (typeof value !== 'object' || value === null) return null;
  // The entries of an array are its elements, with the indexes as names.
  for (const [name, item] of Object.entries(value)) {
    const fault = textFault(name) ?? faultIn(item);
    if (fault !== null) return fault;
  }
  return null;
}

/** The pattern of strings in the OpenAPI document. PostgreSQL cannot store a NUL in a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is about this character
export const withoutNul = /^[^\u0000]*$/;

const loneSurrogate = /\p{Surrogate}/u;

function textFault(text: string): string | null {
  if (text.includes('\u0000')) return 'a string in it holds the character U+0000';
  if (loneSurrogate.test(text)) return 'a string in it holds half of a surrogate pair';
  return null;
}
