// The token of a request. The key of a channel is `ACCESS_KEY:SECRET_KEY`; the token is a JWT that
// is signed with the secret key and valid for half an hour.

import { createHmac } from 'node:crypto';

const validSeconds = 1_800;
// The clock of the provider may be behind ours.
const beforeSeconds = 5;

/** A key without a colon is sent as it is, because gateways use plain keys. */
export function tokenOf(key: string, nowMs: number): string {
  const colon = key.indexOf(':');
  if (colon < 0) return key;
  const accessKey = key.slice(0, colon);
  const secretKey = key.slice(colon + 1);
  const now = Math.floor(nowMs / 1000);
  const payload = { iss: accessKey, exp: now + validSeconds, nbf: now - beforeSeconds };
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(payload)}`;
  return `${signed}.${createHmac('sha256', secretKey).update(signed).digest('base64url')}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
