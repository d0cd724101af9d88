// Verifies callbacks as Standard Webhooks defines them, with WebCrypto only.

import type { Task } from './api-types.ts';
import { VideoError } from './error.ts';

type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The largest difference between the clocks; 300 by default. */
  readonly toleranceSeconds?: number;
}

/**
 * The task of a callback. `body` is the body as received, and `secrets` the `whsec_…` of the
 * account, or several while a secret is being replaced. Throws `invalid_callback` otherwise. A
 * webhook also gets its tests, whose `object` is `webhook.test`, and the alerts that it asks for, which
 * have a `type`: neither is a task.
 */
export async function verifyCallback(
  body: string | Uint8Array,
  headers: HeaderSource,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<Task> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!id || !/^\d+$/.test(timestamp)) throw invalid('The callback has no id or no timestamp.');
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw invalid('The timestamp of the callback is too far from this clock.');
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    if (await isSigned(signed, signatures, secret)) return JSON.parse(text) as Task;
  }
  throw invalid('No signature of the callback is correct.');
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secret: string,
): Promise<boolean> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0) throw invalid('The secret must be a whsec_… in base64.');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  for (const signature of signatures.split(' ')) {
    const given = signature.startsWith('v1,') ? bytesOf(signature.slice(3)) : null;
    if (given && (await crypto.subtle.verify('HMAC', key, given, signed))) return true;
  }
  return false;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function headerOf(headers: HeaderSource, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof entry === 'string' ? entry : '';
}

const invalid = (message: string) =>
  new VideoError(message, { status: 0, code: 'invalid_callback' });
