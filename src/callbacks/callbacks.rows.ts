// Callbacks in the database: messages, attempts, times. activities/callbacks sends the requests.

import type { Knex } from 'knex';
import type { CallbackState } from '../contract/vocabulary';
import { isInState } from '../database/by-key';
import { claimInTurns } from '../owed/claim.rows';
import { address, callbackUrl, isItsWebhook, receiver } from './receiver.rows';

export interface Delivery {
  readonly accountId: string;
  readonly traceId: string;
  readonly url: string;
  readonly status: string;
  /** The final task object, byte for byte as in the reply to a GET. */
  readonly body: string;
  readonly state: CallbackState;
  /**
   * The number of deliveries of this message so far. When a new delivery begins, the previous
   * delivery ends.
   */
  readonly deliveries: number;
  readonly nextAt: Date | null;
  /** The webhook that gets the message; null if the task named an address. */
  readonly webhookId: string | null;
  /** The secrets that sign at present, newest first. A deleted webhook has none. */
  readonly secrets: readonly string[];
  /** The recorded answer to this attempt; null if none is recorded. */
  readonly answered: { readonly status: number | null; readonly error: string | null } | null;
}

/** Finds the message to deliver; null if the task is not final or has no callback. */
export async function findDelivery(
  db: Knex,
  taskId: string,
  delivery: number,
  attempt: number,
): Promise<Delivery | null> {
  const { rows } = await db.raw<{ rows: Delivery[] }>(
    `select t.account_id as "accountId", t.trace_id as "traceId", ${address}, t.status, t.object::text as body, c.state,
            c.deliveries, c.next_at as "nextAt",
            c.webhook_id as "webhookId",
            case when c.webhook_id is not null
                 then array(select w.secret from webhooks w where ${isItsWebhook})
                 else array(select s.secret from webhook_secrets s
                             where s.account_id = t.account_id
                               and (s.expires_at is null or s.expires_at > now())
                             order by s.id desc) end as secrets,
            (select json_build_object('status', a.status, 'error', a.error)
               from callback_attempts a
              where a.task_id = t.id and a.delivery = :delivery and a.attempt = :attempt
                and a.latency_ms is not null
              order by a.id desc
              limit 1) as answered
       from tasks t
       join callbacks c on c.task_id = t.id
      where t.id = :taskId and t.finished_at is not null`,
    { taskId, delivery, attempt },
  );
  return rows[0] ?? null;
}

/** Stores an attempt before its request is sent, so that an interrupted attempt leaves a row. */
export async function beginAttempt(
  db: Knex,
  taskId: string,
  delivery: number,
  attempt: number,
  at: Date,
): Promise<string> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `with cut as (
       update callback_attempts
          set error = 'The attempt was cut off; whether it arrived is not known.'
        where task_id = :taskId and latency_ms is null and error is null
     )
     insert into callback_attempts (task_id, delivery, attempt, at)
     values (:taskId, :delivery, :attempt, :at)
     returning id::text`,
    { taskId, delivery, attempt, at },
  );
  return rows[0]?.id ?? '';
}

export interface Answer {
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error: string | null;
  readonly reply: string | null;
}

/**
 * Records the result of an attempt and the new state of the callback. The state stays as it is if a
 * newer delivery has begun, or if this delivery has ended and the attempt was not successful.
 */
export async function finishAttempt(
  db: Knex,
  { id, taskId, delivery }: { readonly id: string; taskId: string; readonly delivery: number },
  { status, latencyMs, error, reply }: Answer,
  after: { readonly state: CallbackState; readonly nextAt: Date | null },
): Promise<void> {
  await db.raw(
    `with attempted as (
       update callback_attempts
          set status = :status, latency_ms = :latencyMs, error = :error, reply = :reply
        -- The texts of a forgotten task are not stored any more.
        where id = :id and exists (select from callbacks where task_id = :taskId and url <> '')
     )
     update callbacks
        set state = :state, next_at = :nextAt, changed_at = now(),
            due_at = coalesce(:nextAt, now()) + make_interval(secs => :lostAfterSeconds)
      where task_id = :taskId and deliveries = :delivery and (state = 'pending' or :state = 'delivered')`,
    {
      ...{ id, status, latencyMs, taskId, delivery, ...after, lostAfterSeconds },
      ...{ error, reply },
    },
  );
}

/** Ends a delivery that an operator cancelled, or whose webhook was deleted. It is not started again. */
export async function stopDelivery(db: Knex, taskId: string, delivery: number): Promise<void> {
  await db.raw(
    `update callbacks set state = 'stopped', next_at = null, changed_at = now()
      where task_id = ? and deliveries = ? and ${isInState('pending')}`,
    [taskId, delivery],
  );
}

/**
 * A delivery waits at most ten minutes for a busy receiver. If an attempt is overdue for longer, its
 * delivery may be lost.
 */
export const lostAfterSeconds = 10 * 60;

export interface DueDelivery {
  readonly taskId: string;
  readonly accountId: string;
  readonly delivery: number;
  readonly firstAttempt: number;
}

/**
 * Claims callbacks that are due. Most deliveries that have begun only wait for a busy host. If the
 * workflow of a delivery is lost, a new one continues at `firstAttempt`.
 */
export const claimDeliveries = (db: Knex) =>
  claimInTurns<DueDelivery>(db, {
    table: 'callbacks',
    key: 'task_id',
    owing: `state = 'pending'`,
    lease: `interval '${lostAfterSeconds} seconds'`,
    columns: `task_id as "taskId", claimed.account_id as "accountId", deliveries as delivery,
              1 + (select count(distinct attempts.attempt)::integer
                     from callback_attempts attempts
                    where attempts.task_id = claimed.task_id
                      and attempts.delivery = claimed.deliveries
                      and attempts.latency_ms is not null) as "firstAttempt"`,
  });

/** Makes a claimed delivery that could not be started due again after half a minute. */
export async function postponeDelivery(db: Knex, taskId: string): Promise<void> {
  await db.raw(
    `update callbacks set due_at = now() + interval '30 seconds'
      where task_id = ? and ${isInState('pending')}`,
    [taskId],
  );
}

export interface CallbackRow {
  readonly taskId: string;
  readonly accountId: string;
  /** Null if the task named an address. */
  readonly webhookId: string | null;
  readonly url: string;
  readonly state: CallbackState;
  readonly deliveries: number;
  readonly nextAt: Date | null;
  readonly changedAt: Date;
}

export const callbackColumns = `
  task_id as "taskId", account_id as "accountId", webhook_id as "webhookId", ${address}, state, deliveries, next_at as "nextAt",
  changed_at as "changedAt"`;

export async function findCallback(db: Knex, taskId: string): Promise<CallbackRow | null> {
  const { rows } = await db.raw<{ rows: CallbackRow[] }>(
    `select ${callbackColumns} from callbacks c where task_id = ?`,
    [taskId],
  );
  return rows[0] ?? null;
}

interface TaskCallback {
  readonly accountId: string;
  /** Null if the task has no callback. */
  readonly state: CallbackState | null;
  readonly nextAt: Date | null;
  readonly webhookId: string | null;
}

/** Returns null if there is no such task. Until the task ends, its callback is `pending`. */
export async function findTaskCallback(db: Knex, taskId: string): Promise<TaskCallback | null> {
  const { rows } = await db.raw<{ rows: TaskCallback[] }>(
    `select tasks.account_id as "accountId", c.next_at as "nextAt",
            c.webhook_id as "webhookId",
            case when ${callbackUrl} is not null or c.url <> '' or tasks.finished_at is null and exists
                      (select from webhooks w where w.account_id = tasks.account_id)
                 then coalesce(c.state, 'pending') end as state
       from tasks
       left join callbacks c on c.task_id = tasks.id
      where tasks.id = ?`,
    [taskId],
  );
  return rows[0] ?? null;
}

/**
 * An attempt without a latency has no result. If it has an error, it was interrupted; otherwise it
 * is in progress.
 */
export interface Attempt extends Omit<Answer, 'latencyMs'> {
  readonly delivery: number;
  readonly attempt: number;
  readonly at: Date;
  readonly latencyMs: number | null;
}

export const attemptColumns = `delivery, attempt, at, status, latency_ms as "latencyMs", error, reply`;

export async function listAttempts(db: Knex, taskId: string): Promise<readonly Attempt[]> {
  const { rows } = await db.raw<{ rows: Attempt[] }>(
    `select ${attemptColumns} from callback_attempts where task_id = ? order by id`,
    [taskId],
  );
  return rows;
}

/**
 * Begins another delivery of the message and returns the number of the delivery. Returns null if
 * the task has no message or was erased, if so many deliveries have begun before, or if the message
 * lacks a webhook.
 */
export async function beginResend(
  db: Knex,
  taskId: string,
  deliveriesMax: number | null = null,
): Promise<number | null> {
  const [begun] = await beginResends(db, [taskId], { deliveriesMax });
  return begun?.delivery ?? null;
}

interface Resends {
  readonly deliveriesMax?: number | null;
  /** Leaves out a message that another call has begun meanwhile. */
  readonly isGivenUp?: boolean;
}

/** Begins another delivery of each message that can be sent. */
export async function beginResends(
  db: Knex,
  taskIds: readonly string[],
  { deliveriesMax = null, isGivenUp = false }: Resends = {},
): Promise<readonly { readonly taskId: string; readonly delivery: number }[]> {
  const { rows } = await db.raw<{ rows: { taskId: string; delivery: number }[] }>(
    `with ${receiver}
     update callbacks
        set deliveries = deliveries + 1, state = 'pending', next_at = now(), due_at = now(),
            changed_at = now(), webhook_id = receiver.webhook_id
       from receiver
      where callbacks.task_id = receiver.task_id and url <> ''
        and (cast(:deliveriesMax as integer) is null or deliveries < :deliveriesMax)
        and (is_named or receiver.webhook_id is not null)
        and (not :isGivenUp or callbacks.state = 'exhausted')
     returning callbacks.task_id as "taskId", deliveries as delivery`,
    { taskIds: [...taskIds], deliveriesMax, isGivenUp },
  );
  return rows;
}
