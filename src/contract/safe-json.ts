// JSON from outside, made safe: an object at the top, bounded depth, no prototype names, and no
// string a database or a UTF-8 encoder would choke on. Used for the body and for metadata sent as a
// string. When a name appears twice the last one wins, as everywhere in JSON.

import secureJson from 'secure-json-parse';

export type JsonObject = Readonly<Record<string, unknown>>;
type SafeJson =
  | { readonly value: JsonObject; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: string };

// The documented fields nest four deep; 32 leaves room for what is passed through and stops a stack
// from growing.
const depthMax = 32;

export function parseSafeJson(text: string): SafeJson {
  let value: unknown;
  try {
    value = secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    // Only for the sentence: V8 says where it stopped, the other message is about prototype names.
    const forbidden = /forbidden prototype/i.test(String(error));
    return { fault: forbidden ? 'it holds a forbidden property name' : 'it is not valid JSON' };
  }
  if (!isJsonObject(value)) return { fault: 'it must be a JSON object' };
  // NUL and lone surrogates can only arrive as \u escapes: raw ones are not JSON, or not UTF-8.
  const fault = faultIn(value, text.includes('\\u'), 1);
  return fault === null ? { value } : { fault };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faultIn(value: unknown, checkText: boolean, depth: number): string | null {
  if (typeof value === 'string') return checkText ? textFault(value) : null;
  if (typeof value !== 'object' || value === null) return null;
  if (depth > depthMax) return `it is nested more than ${depthMax} levels deep`;
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = faultIn(item, checkText, depth + 1);
      if (fault !== null) return fault;
    }
    return null;
  }
  for (const [name, item] of Object.entries(value)) {
    const fault = (checkText ? textFault(name) : null) ?? faultIn(item, checkText, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

const loneSurrogate = /\p{Surrogate}/u;

function textFault(text: string): string | null {
  if (text.includes('\u0000')) return 'a string in it holds the character U+0000';
  if (loneSurrogate.test(text)) return 'a string in it holds half of a surrogate pair';
  return null;
}
