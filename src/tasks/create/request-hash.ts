// The hash of a request. It shows whether a repeated create has the same body as the first one.

import { hash } from 'node:crypto';

/** Two requests have the same hash if they differ only in the order of their fields. */
export function hashOfRequest(request: unknown): string {
  return hash('sha256', canonicalJson(request), 'base64url');
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`);
  return `{${fields.join(',')}}`;
}
