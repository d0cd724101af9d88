// Ids of tasks, files, webhooks and alerts: `task_` or the like, and 128 bits in base32. Ids usually begin with the
// time, so that new rows are inserted at one end of an index. If a create has an Idempotency-Key,
// the id of the task is derived from the account and this key. So a repeated call finds the same
// task in any process. An id is not a secret: every read checks the owner.

import { createHash, randomUUID } from 'node:crypto';

export function newTaskId(nowMs: number): string {
  return `task_${timedId(nowMs)}`;
}

export function newFileId(nowMs: number): string {
  return `file_${timedId(nowMs)}`;
}

export function newAlertId(nowMs: number): string {
  return `alert_${timedId(nowMs)}`;
}

export function newWebhookId(nowMs: number): string {
  return `hook_${timedId(nowMs)}`;
}

function timedId(nowMs: number): string {
  // randomUUID takes its bits from a cached pool, so it is much faster than randomBytes. Only six
  // bits of a UUID are not random.
  const bytes = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  bytes.writeUIntBE(nowMs, 0, 6);
  return base32(bytes);
}

export function taskIdForKey(accountId: string, idempotencyKey: string): string {
  const digest = createHash('sha256').update(`task id\0${accountId}\0${idempotencyKey}`).digest();
  return `task_${base32(digest.subarray(0, 16))}`;
}

/** True if the text has the form of a task id. For any other text no query is needed. */
export function isTaskId(text: string): boolean {
  return /^task_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}

export function isFileId(text: string): boolean {
  return /^file_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}

export function isWebhookId(text: string): boolean {
  return /^hook_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}

// The characters are in ascending order, so that ids sort like their bytes. The letters i, l, o and
// u are left out, because they are easily misread.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Turns 16 bytes into 26 characters of five bits each, with two zero bits in front. */
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
