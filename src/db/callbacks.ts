// How it stands with callbacks: what is to be sent, what was tried, what comes next.

import type { Knex } from 'knex';

export type CallbackState = 'pending' | 'delivered' | 'exhausted' | 'stopped';

export interface Delivery {
  readonly accountId: string;
  readonly url: string;
  readonly status: string;
  /** The final task object as GET answers it, byte for byte. */
  readonly body: string;
}

/** What is to be delivered; null when the task is not final or asked for no callback. */
export async function findDelivery(db: Knex, taskId: string): Promise<Delivery | null> {
  const { rows } = await db.raw<{ rows: Delivery[] }>(
    `select account_id as "accountId", callback_url as url, status, object::text as body
       from tasks where id = ? and finished_at is not null and callback_url is not null`,
    [taskId],
  );
  return rows[0] ?? null;
}

export interface Attempt {
  readonly attempt: number;
  readonly at: Date;
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error: string | null;
  readonly reply: string | null;
}

/** One attempt and what follows from it, in one statement. */
export async function recordAttempt(
  db: Knex,
  taskId: string,
  delivery: number,
  { attempt, at, status, latencyMs, error, reply }: Attempt,
  after: { readonly state: CallbackState; readonly nextAt: Date | null },
): Promise<void> {
  await db.raw(
    `with attempted as (
       insert into callback_attempts
              (task_id, delivery, attempt, at, status, latency_ms, error, reply)
       values (:taskId, :delivery, :attempt, :at, :status, :latencyMs, :error, :reply)
     )
     insert into callbacks (task_id, account_id, url, state, next_at)
     select id, account_id, callback_url, :state, :nextAt from tasks where id = :taskId
     on conflict (task_id) do update
        set state = excluded.state, next_at = excluded.next_at, changed_at = now()`,
    {
      taskId,
      delivery,
      attempt,
      at,
      status,
      latencyMs,
      error,
      reply,
      state: after.state,
      nextAt: after.nextAt,
    },
  );
}

export interface CallbackRow {
  readonly taskId: string;
  readonly accountId: string;
  readonly url: string;
  readonly state: CallbackState;
  readonly deliveries: number;
  readonly nextAt: Date | null;
  readonly changedAt: Date;
}

const columns = `
  task_id as "taskId", account_id as "accountId", url, state, deliveries, next_at as "nextAt",
  changed_at as "changedAt"`;

export async function findCallback(db: Knex, taskId: string): Promise<CallbackRow | null> {
  const { rows } = await db.raw<{ rows: CallbackRow[] }>(
    `select ${columns} from callbacks where task_id = ?`,
    [taskId],
  );
  return rows[0] ?? null;
}

export async function listCallbacks(
  db: Knex,
  filter: { readonly state?: CallbackState; readonly accountId?: string; readonly limit: number },
): Promise<readonly CallbackRow[]> {
  const query = db('callbacks').select(db.raw(columns)).orderBy('changed_at', 'desc');
  if (filter.state) query.where('state', filter.state);
  if (filter.accountId) query.where('account_id', filter.accountId);
  return (await query.limit(filter.limit)) as CallbackRow[];
}

export async function listAttempts(
  db: Knex,
  taskId: string,
): Promise<readonly (Attempt & { readonly delivery: number })[]> {
  const { rows } = await db.raw<{ rows: (Attempt & { readonly delivery: number })[] }>(
    `select delivery, attempt, at, status, latency_ms as "latencyMs", error, reply
       from callback_attempts where task_id = ? order by id`,
    [taskId],
  );
  return rows;
}

/** The number of the next delivery of this task's message; null when the task has no callback to send. */
export async function beginResend(db: Knex, taskId: string): Promise<number | null> {
  const { rows } = await db.raw<{ rows: { deliveries: number }[] }>(
    `insert into callbacks (task_id, account_id, url, deliveries)
     select id, account_id, callback_url, 2 from tasks
      where id = ? and finished_at is not null and callback_url is not null
     on conflict (task_id) do update
        set deliveries = callbacks.deliveries + 1, state = 'pending', changed_at = now()
     returning deliveries`,
    [taskId],
  );
  return rows[0]?.deliveries ?? null;
}
