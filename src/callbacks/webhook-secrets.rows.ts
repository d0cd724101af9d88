// The secrets with which callbacks are signed. An account has one secret, and several during a
// rotation. The secret itself is stored, not its digest, because a signature needs the secret.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';

/** The format of the Standard Webhooks libraries: `whsec_` and the base64 of 32 random bytes. */
export function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export async function createSecret(db: Knex, accountId: string): Promise<string> {
  const secret = makeSecret();
  await db('webhook_secrets').insert({ account_id: accountId, secret });
  return secret;
}

/**
 * Adds a new secret and returns it. Until the overlap is over, callbacks are signed with the
 * previous secrets too.
 */
export async function rotateSecret(
  db: Knex,
  accountId: string,
  overlapMs: number,
): Promise<string> {
  return db.transaction(async (trx) => {
    await trx.raw(
      `update webhook_secrets
          set expires_at = least(expires_at, now() + make_interval(secs => ?))
        where account_id = ?`,
      [overlapMs / 1000, accountId],
    );
    return createSecret(trx, accountId);
  });
}
