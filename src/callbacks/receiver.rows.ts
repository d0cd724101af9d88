// Who receives the callback of a task: an address that the task names, or a webhook of its account.

import type { Knex } from 'knex';

/** SQL for the address that a task names for its callback; null if it names none. */
export const callbackUrl = `tasks.request->'metadata'->>'callback_url'`;

/** SQL for the webhook of an account that takes a final status: the newest one that does. */
export const webhookFor = (accountId: string, status: string) => `
  select webhooks.id, webhooks.url from webhooks
   where webhooks.account_id = ${accountId} and ${status} = any(webhooks.events)
   order by webhooks.created_at desc, webhooks.id desc limit 1`;

/** SQL: the webhook `w` is that of the callback `c`. */
export const isItsWebhook = 'w.id = c.webhook_id and w.account_id = c.account_id';

/**
 * SQL for the address of a callback; empty after an erasure. The API may give a message to another
 * webhook, but it may change no address, so the address of a webhook is read from there.
 */
export const address = `
  coalesce((select w.url from webhooks w where ${isItsWebhook} and c.url <> ''), c.url) as url`;

/**
 * SQL for the webhooks that get the messages of `taskIds` in a resend. If the webhook of a message was
 * deleted, it is the one that would be chosen now.
 */
export const receiver = `
  receiver as (
    select c.task_id, c.webhook_id is null as is_named,
           coalesce((select w.id from webhooks w where ${isItsWebhook}), other.id) as webhook_id
      from callbacks c
      join tasks on tasks.id = c.task_id
      left join lateral (${webhookFor('c.account_id', 'tasks.status')}) other
           on c.webhook_id is not null
     where c.task_id = any(:taskIds) and c.url <> ''
  )`;

/** SQL: the message of the callback `c` still has an address. Its task is `tasks`. */
export const hasReceiver = `
  c.url <> '' and (c.webhook_id is null
    or exists (select from webhooks w where ${isItsWebhook})
    or exists (${webhookFor('c.account_id', 'tasks.status')}))`;

/** True if the webhook of the message was deleted, and no other one takes the final state. */
export async function lacksWebhook(db: Knex, taskId: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `with ${receiver} select from receiver where not is_named and webhook_id is null`,
    { taskIds: [taskId] },
  );
  return rows.length > 0;
}
