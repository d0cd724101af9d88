// Task ids: `task_` and 128 bits in base32. Without an Idempotency-Key they are time-ordered, so
// that an index stays small at its busy end; with one they follow from account and key, so that a
// repeated call meets the same workflow wherever it arrives. The id is not a secret: every read
// checks the owner.

import { createHash, createHmac, randomUUID } from 'node:crypto';

export function newTaskId(nowMs: number): string {
  // All but six of a UUID's bits are random, and it is drawn from a store; asking the system each
  // time takes far longer.
  const bytes = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  bytes.writeUIntBE(nowMs, 0, 6);
  return `task_${base32(bytes)}`;
}

export function taskIdForKey(pepper: string, accountId: string, idempotencyKey: string): string {
  const digest = createHmac('sha256', pepper)
    .update(`task id\0${accountId}\0${idempotencyKey}`)
    .digest();
  return `task_${base32(digest.subarray(0, 16))}`;
}

const idShape = /^task_[0-9a-hjkmnp-tv-z]{26}$/;

/** Anything else cannot be a task, so nobody needs to look. */
export function isTaskId(text: string): boolean {
  return idShape.test(text);
}

/**
 * The same for two requests exactly when they ask for the same thing, whatever the order of their
 * fields.
 */
export function hashOfRequest(request: unknown): string {
  return createHash('sha256').update(canonicalJson(request)).digest('base64url');
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

// Digits before letters and in this order, so that ids sort as text the way their bytes do; no i,
// l, o, u to misread.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 16 bytes → 26 characters, two zero bits in front. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 2;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return text;
}
