// Makes the three headers of a callback, as Standard Webhooks defines them. The signature covers
// the id, the time and the exact bytes of the body. During a rotation there is one signature for
// each secret.

import { createHmac } from 'node:crypto';

interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

export function webhookHeaders(
  { id, timestampSeconds, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const signed = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`);
    return `v1,${signed.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
