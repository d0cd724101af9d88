/*
 * Checks the token of a call: a JWT that is signed with the secret key. Its header, its time and
 * its signature are checked as the provider does.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';

export function isToken(sent: string, secretKey: string): boolean {
  const [header = '', payload = '', signature = ''] = sent.split('.');
  const right = createHmac('sha256', secretKey).update(`${header}.${payload}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== right.length || !timingSafeEqual(given, right)) return false;
  const { alg, typ } = parsed(header);
  const { iss, exp, nbf } = parsed(payload);
  const now = Date.now() / 1000;
  const isInTime = Number(exp) > now && Number(nbf) <= now;
  return alg === 'HS256' && typ === 'JWT' && typeof iss === 'string' && iss !== '' && isInTime;
}

function parsed(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}
