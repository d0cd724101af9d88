// The part that all statements have in common that end a task.

import { callbackUrl, webhookFor } from '../callbacks/receiver.rows';
import { timingsUntilNow } from '../jobs/times.rows';

// The object is JSON text of JSON.stringify, so the timings are appended to it as its last field.
const withTimings = `
  cast(left(cast(:object as text), -1) || ',"timings":' || ${timingsUntilNow} || '}' as json)`;

/**
 * SQL for three `with` queries: a row of the live task `:taskId` that meets the condition gets its
 * final object, and its callback becomes owed in the same statement. So if the process dies right
 * after the commit, the callback is found by its row: at once, or after `:announcedInSeconds` if the
 * caller makes the first attempt. The task's own address gets the callback; without one, the newest
 * webhook of the account that takes the final status.
 */
export const endsTask = (condition: string) => `
  ended as (
    update tasks set object = ${withTimings}, finished_at = now(), owes = null, due_at = null
     where id = :taskId and state <> 'ended' and ${condition}
    returning id, account_id, key_id, created_at, status, hold_micros,
              ${callbackUrl} as callback_url
  ), owed as (
    insert into callbacks (task_id, account_id, webhook_id, url, next_at, due_at)
    select ended.id, ended.account_id, webhook.id, coalesce(callback_url, webhook.url), now(),
           now() + make_interval(secs => :announcedInSeconds)
      from ended left join lateral (${webhookFor('ended.account_id', 'ended.status')}) webhook
           on callback_url is null
     where coalesce(callback_url, webhook.url) is not null
    returning task_id
  ), result as (
    select exists (select from owed) as "hasCallback" from ended
  )`;
