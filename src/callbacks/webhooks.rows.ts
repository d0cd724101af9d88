// The webhooks of accounts. A webhook receives the callbacks of tasks that name no address of their
// own. The statement that ends a task chooses the webhook (end-task.rows.ts).

import type { Knex } from 'knex';
import { lockAccount } from '../accounts/accounts.rows';
import type { WebhookEvent } from '../contract/webhook-schema';
import { newWebhookId } from '../database/ids';
import { makeSecret } from './webhook-secrets.rows';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly createdAt: Date;
}

// Read and write privileges are limited to these columns: no API can read a secret.
const columns = `id, url, events, created_at as "createdAt"`;

/** Returns the webhook with its secret; null if the account has as many as it may. */
export async function createWebhook(
  db: Knex,
  {
    accountId,
    url,
    events,
    max,
    nowMs,
  }: {
    readonly accountId: string;
    readonly url: string;
    readonly events: readonly WebhookEvent[];
    readonly max: number;
    readonly nowMs: number;
  },
): Promise<(Webhook & { readonly secret: string }) | null> {
  const secret = makeSecret();
  return db.transaction(async (trx) => {
    // So that each create counts the others.
    await lockAccount(trx, accountId);
    const { rows } = await trx.raw<{ rows: Webhook[] }>(
      `insert into webhooks (id, account_id, url, events, secret)
       select :id, :accountId, :url, :events, :secret
        where (select count(*) from webhooks where account_id = :accountId) < :max
          and exists (select from accounts where id = :accountId and disabled_at is null)
       returning ${columns}`,
      { id: newWebhookId(nowMs), accountId, url, events: [...events], secret, max },
    );
    return rows[0] ? { ...rows[0], secret } : null;
  });
}

/** Only a worker may read the secret. */
export async function findSigningWebhook(
  db: Knex,
  id: string,
): Promise<{ readonly accountId: string; readonly url: string; readonly secret: string } | null> {
  const { rows } = await db.raw<{ rows: { accountId: string; url: string; secret: string }[] }>(
    'select account_id as "accountId", url, secret from webhooks where id = ?',
    [id],
  );
  return rows[0] ?? null;
}

export async function listWebhooks(db: Knex, accountId: string): Promise<readonly Webhook[]> {
  const { rows } = await db.raw<{ rows: Webhook[] }>(
    `select ${columns} from webhooks where account_id = ? order by created_at desc, id desc`,
    [accountId],
  );
  return rows;
}

/** The account of a webhook; null if there is no such webhook. */
export async function findWebhookOwner(db: Knex, id: string): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { accountId: string }[] }>(
    'select account_id as "accountId" from webhooks where id = ?',
    [id],
  );
  return rows[0]?.accountId ?? null;
}

/** Returns false if the account has no such webhook. */
export async function deleteWebhook(db: Knex, accountId: string, id: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    'delete from webhooks where account_id = ? and id = ? returning id',
    [accountId, id],
  );
  return rows.length > 0;
}
