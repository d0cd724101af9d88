// The secrets that callbacks are signed with, one per account, several while one is being replaced.
// Unlike API keys they have to be kept as they are: signing needs them.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';

/** In the form that verifying libraries take: `whsec_` and the base64 of 32 random bytes. */
function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export async function createSecret(db: Knex, accountId: string): Promise<string> {
  const secret = makeSecret();
  await db('webhook_secrets').insert({ account_id: accountId, secret });
  return secret;
}

/** The secrets to sign with now, the newest first. */
export async function activeSecrets(db: Knex, accountId: string): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { secret: string }[] }>(
    `select secret from webhook_secrets
      where account_id = ? and (expires_at is null or expires_at > now())
      order by id desc`,
    [accountId],
  );
  return rows.map((row) => row.secret);
}

/** Adds a new secret; the old ones go on signing beside it for the overlap at most. */
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
