// The only SQL that moves money. The two doors of a task are one statement each: they are a
// transaction by themselves, cost one round trip, and wait for nobody but another door of the same
// customer, or a note about the same task. Doing either again moves nothing.

import type { Knex } from 'knex';
import type { ClosedTask, CloseTask, OpenedTask, OpenTask } from '../../workflows/messages';
import type { TaskObject } from '../contract/task';
import { assert } from '../domain/assert';
import { stepOf } from '../domain/task';
import { availableChange, closingMovements, holdId } from '../domain/transfers';
import { refusalOf } from './funds';
import { prepared } from './prepared';
import { findStored } from './tasks';
import { forgetUnknownStart } from './unknown-starts';
import { noteUnplaced } from './unplaced';

/** The first door: the task's row, its hold and the customer's balance, or nothing at all. */
export async function openTask(db: Knex, open: OpenTask): Promise<OpenedTask> {
  const { input, object } = open;
  const opening = db.raw<{ rows: unknown[] }>(
    `with paid as (
       update balances
          set available = available - :amount, held = held + :amount,
              open_tasks = open_tasks + 1, last_seq = last_seq + 1
        where account_id = :accountId and currency = :currency and available >= :amount
          and not exists (select 1 from tasks where id = :id)
       returning available, held, last_seq
     ), opened as (
       ${insertTask('from paid')}
       returning id
     ), noted as (
       insert into unplaced (task_id) select id from opened
     )
     insert into transfers
            (id, account_id, seq, kind, debit, credit, amount, available_after, held_after, task_id)
     select :holdId, :accountId, paid.last_seq, 'hold', 'available', 'held', cast(:amount as bigint),
            paid.available, paid.held, opened.id
       from paid, opened
     returning 1`,
    { ...taskBindings(open), ...priceBindings(open), holdId: holdId(input.taskId) },
  );
  const { rows } = await opening.options(prepared('open_task'));
  if (rows.length > 0) return { outcome: 'opened' };
  const known = await findStored(db, object.id);
  if (known) {
    const { accountId, requestHash } = known;
    assert(accountId === input.accountId, `${object.id} is a task of this account`);
    if (!known.finished) await noteUnplaced(db, object.id);
    return { outcome: 'exists', object: known.object, requestHash };
  }
  return { outcome: 'refused', refusal: await refusalOf(db, priceBindings(open)) };
}

/**
 * Keeps a failed row for a task that was refused after its id had been given away. No money moves.
 */
export async function keepRefusedTask(db: Knex, open: OpenTask): Promise<TaskObject> {
  await db.raw(`${insertTask('')} on conflict (id) do nothing`, taskBindings(open));
  const known = await findStored(db, open.object.id);
  assert(known, 'a task that was just kept is there');
  return known.object;
}

/**
 * The second door: the final object, what the hold paid and what returns of it. Whichever final
 * state comes first is stored; a later one is answered with that.
 */
export async function closeTask(db: Knex, close: CloseTask): Promise<ClosedTask> {
  return (await settleTask(db, close)) ?? db.transaction((trx) => closeNotedTask(trx, close));
}

/** The call that started it was told it costs nothing, unless its caller came back meanwhile. */
async function closeNotedTask(db: Knex, close: CloseTask): Promise<ClosedTask> {
  const { nonce = '', withdrawn, ...asAsked } = close;
  const isNoted = await forgetUnknownStart(db, close.taskId, nonce);
  const closing = isNoted && withdrawn ? { ...asAsked, object: withdrawn, charge: [] } : asAsked;
  const closed = await settleTask(db, closing);
  assert(closed, `${close.taskId} is final, or was opened with the hold of its plan`);
  return closed;
}

/** Null when the call that started it is noted as one of which nobody knows. */
async function settleTask(db: Knex, close: CloseTask): Promise<ClosedTask | null> {
  const { taskId, object, heldMicros, charge, nonce = '' } = close;
  const movements = closingMovements(taskId, heldMicros, charge);
  let change = 0;
  let held = heldMicros;
  const rows = movements.map((movement, index) => {
    change += availableChange(movement);
    if (movement.debit === 'held') held -= movement.amount;
    return { ...movement, position: index + 1, so_far: change, held_left: held };
  });
  const closing = db.raw<{ rows: unknown[] }>(
    `with closed as (
       update tasks
          set status = :status, stage = null, version = :version, object = :object,
              finished_at = now()
        where id = :taskId and finished_at is null
          and exists (select 1 from transfers where id = :holdId and amount = :heldMicros)
          and not exists (select 1 from unknown_starts where task_id = :taskId and nonce = :nonce)
       returning account_id
     ), done as (
       update jobs set state = 'closed' from closed where task_id = :taskId
     ), forgotten as (
       delete from unplaced using closed where task_id = :taskId
     ), moved as (
       update balances
          set held = held - :heldMicros, available = available + :change,
              open_tasks = open_tasks - 1, last_seq = last_seq + :count
         from closed
        where balances.account_id = closed.account_id
       returning balances.account_id, available, held, last_seq
     ), written as (
       insert into transfers
              (id, account_id, seq, kind, debit, credit, amount, available_after, held_after,
               task_id)
       select row.id, moved.account_id, moved.last_seq - :count + row.position, row.kind,
              row.debit, row.credit, row.amount, moved.available - :change + row.so_far,
              moved.held + row.held_left, :taskId
         from moved, json_to_recordset(:movements) as row
              (id text, kind text, debit text, credit text, amount bigint,
               position int, so_far bigint, held_left bigint)
     )
     select 1 from moved`,
    {
      taskId,
      nonce,
      holdId: holdId(taskId),
      status: object.status,
      version: stepOf(object),
      object: JSON.stringify(object),
      heldMicros,
      change,
      count: movements.length,
      movements: JSON.stringify(rows),
    },
  );
  const { rows: moved } = await closing.options(prepared('close_task'));
  if (moved.length > 0) return { object, first: true };
  const known = await findStored(db, taskId);
  return known?.finished ? { object: known.object, first: false } : null;
}

export type CreditResult =
  | 'created'
  | 'exists'
  | 'exists_with_different_amount'
  | 'different_currency';

/**
 * Adds money, or takes it back by a correction. The reference is the caller's: the same one moves
 * money once. An amount whose currency is named has to be in the one of the account's books.
 */
export async function creditAccount(
  db: Knex,
  credit: {
    readonly accountId: string;
    readonly amountMicros: number;
    readonly reference: string;
    readonly reason: string;
    readonly kind?: 'credit' | 'correction';
    readonly currency?: string;
  },
): Promise<CreditResult> {
  const { accountId, amountMicros, reference, reason, kind = 'credit' } = credit;
  assert(Number.isSafeInteger(amountMicros) && amountMicros !== 0, 'a credit is a whole amount');
  const id = `${accountId}:${kind}:${reference}`;
  const from = kind === 'credit' ? 'credits' : 'corrections';
  return db.transaction(async (trx) => {
    const books = await trx.raw<{ rows: { currency: string }[] }>(
      'select currency from balances where account_id = ? for update',
      [accountId],
    );
    if (credit.currency && books.rows[0] && books.rows[0].currency !== credit.currency) {
      return 'different_currency';
    }
    const known = await trx.raw<{ rows: { change: number }[] }>(
      `select case credit when 'available' then amount else -amount end as change
         from transfers where id = ?`,
      [id],
    );
    const [before] = known.rows;
    if (before) return before.change === amountMicros ? 'exists' : 'exists_with_different_amount';
    const moved = await trx.raw<{ rows: unknown[] }>(
      `with moved as (
         update balances set available = available + :amountMicros, last_seq = last_seq + 1
          where account_id = :accountId
         returning available, held, last_seq
       )
       insert into transfers
              (id, account_id, seq, kind, debit, credit, amount, available_after, held_after,
               reason)
       select :id, :accountId, last_seq, :kind, :debit, :credit, cast(:amount as bigint),
              available, held, :reason
         from moved returning 1`,
      {
        id,
        accountId,
        kind,
        reason,
        amountMicros,
        amount: Math.abs(amountMicros),
        debit: amountMicros > 0 ? from : 'available',
        credit: amountMicros > 0 ? 'available' : from,
      },
    );
    assert(moved.rows.length > 0, `the account ${accountId} has books`);
    return 'created';
  });
}

function insertTask(source: string): string {
  return `
    insert into tasks
           (id, account_id, model, status, version, object, request, plan, request_hash, trace_id,
            callback_url, created_at, deadline_at, finished_at)
    select :id, :accountId, :model, :status, cast(:version as smallint), cast(:object as json), cast(:request as json),
           cast(:plan as json), :requestHash, :traceId, :callbackUrl, to_timestamp(:createdAt),
           to_timestamp(:deadlineAt), to_timestamp(:finishedAt)
    ${source}`;
}

function taskBindings({ input, object, createdAtMs, deadlineAtMs }: OpenTask) {
  return {
    id: input.taskId,
    accountId: input.accountId,
    model: input.request.model,
    status: object.status,
    version: stepOf(object),
    object: JSON.stringify(object),
    request: JSON.stringify(input.request),
    plan: JSON.stringify(input.plan),
    requestHash: input.requestHash,
    traceId: input.traceId,
    callbackUrl: input.request.metadata.callback_url ?? null,
    createdAt: createdAtMs / 1000,
    deadlineAt: deadlineAtMs / 1000,
    finishedAt: object.finished_at ?? null,
  };
}

function priceBindings({ input: { accountId, plan } }: OpenTask) {
  return { accountId, amount: plan.hold.amountMicros, currency: plan.price.currency };
}
