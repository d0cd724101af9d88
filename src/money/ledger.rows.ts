// The only SQL that moves money. One statement opens a task, and one statement closes a task. Each
// of the two costs one round trip and waits only for statements about the same customer or task. A
// repeated call moves nothing.

import type { Knex } from 'knex';
import { refusalOf } from '../accounts/payment-refusals.rows';
import { assert } from '../assert';
import { lostAfterSeconds } from '../callbacks/callbacks.rows';
import { prepare } from '../database/prepared-statement';
import { expireResultsOfFailed } from '../files/retention.rows';
import { closeJobsOfTask } from '../jobs/cancels.rows';
import { planFirstJob } from '../jobs/steps.rows';
import { askedFor } from '../planning/pricing.rules';
import { endsTask } from '../tasks/end-task.rows';
import { failPending } from '../tasks/pending.rows';
import { expiredMessage } from '../tasks/task.rules';
import type {
  ClosedTask,
  CloseTask,
  OpenedTask,
  TaskInput,
} from '../tasks/task-transactions.rules';
import { findStored } from '../tasks/tasks.rows';
import { availableChange, closingMovements, holdId } from './transfers.rules';

/**
 * Opens a pending task: one statement ends its wait, writes its hold and changes the balance. A task
 * that cannot be opened ends as failed and costs nothing, and the caller announces its end.
 */
export async function openTask(db: Knex, input: TaskInput): Promise<OpenedTask> {
  const { taskId, plan } = input;
  const price = priceOf(input);
  for (;;) {
    const [pending] = await openPending(db, { taskId, ...price, holdId: holdId(taskId) });
    if (pending?.isOpened) return { outcome: 'opened' };
    if (!pending) break;
    if (!pending.inTime) {
      await failPending(db, taskId, expiredMessage(plan.expiresAfterSeconds), lostAfterSeconds);
      continue;
    }
    // Without a refusal, the account was changed in the meantime, and the task may be opened now.
    const refusal = await refusalOf(db, price);
    const ended = refusal && (await failPending(db, taskId, refusal.message, lostAfterSeconds));
    if (ended) return { outcome: 'refused', refusal, ...ended };
  }
  const known = await findStored(db, taskId);
  assert(known?.accountId === input.accountId, `${taskId} is a task of this account`);
  return { outcome: 'exists', object: known.object, hasCallback: known.hasCallback };
}

const openPending = prepare<Opening>(
  'open_task',
  `
 with task as materialized (
   select id, account_id, hold_micros, deadline_at > now() as in_time
     from tasks
    where id = :taskId and state = 'pending'
      for update
 ), paid as (
   update balances
      set available = available - :amount, held = held + :amount,
          open_tasks = open_tasks + 1, last_seq = last_seq + 1,
          pending = pending - hold_micros, pending_tasks = pending_tasks - 1
     from task
    where balances.account_id = task.account_id and in_time
      and currency = :currency and available >= :amount
      and exists (select 1 from accounts
                   where id = task.account_id and disabled_at is null)
   returning available, held, last_seq
 ), opened as (
   update tasks set owes = null, due_at = null from paid where id = :taskId
   returning id, account_id, key_id, created_at
 ), planned as (${planFirstJob}
 ), hold as (
   insert into transfers
          (id, account_id, seq, kind, debit, credit, amount, available_after, held_after,
           task_id, key_id, task_created_at)
   select :holdId, opened.account_id, paid.last_seq, 'hold', 'available', 'held',
          cast(:amount as bigint), paid.available, paid.held, opened.id, opened.key_id,
          opened.created_at
     from paid, opened
 )
 select exists (select 1 from opened) as "isOpened", in_time as "inTime" from task`,
);

interface Opening {
  readonly isOpened: boolean;
  readonly inTime: boolean;
}

/**
 * Stores the final object, and settles or refunds the hold. If the task is final already, nothing
 * changes and the stored object is returned. The callback is due at once, unless the caller announces
 * the end within `announcedInSeconds`.
 */
export async function closeTask(
  db: Knex,
  close: CloseTask,
  announcedInSeconds = 0,
): Promise<ClosedTask> {
  const { taskId, object, heldMicros, charge } = close;
  const movements = closingMovements(taskId, heldMicros, charge);
  let change = 0;
  let held = heldMicros;
  const rows = movements.map((movement, index) => {
    change += availableChange(movement);
    if (movement.debit === 'held') held -= movement.amount;
    return { ...movement, position: index + 1, so_far: change, held_left: held };
  });
  const moved = await closeOpen(db, {
    taskId,
    holdId: holdId(taskId),
    object: JSON.stringify(object),
    heldMicros,
    change,
    count: movements.length,
    movements: JSON.stringify(rows),
    announcedInSeconds,
  });
  if (moved[0]) return { object, first: true, hasCallback: moved[0].hasCallback };
  const known = await findStored(db, taskId);
  assert(known?.object, `${taskId} is final, or was opened with the hold of its plan`);
  return { object: known.object, first: false, hasCallback: known.hasCallback };
}

const closeOpen = prepare<{ readonly hasCallback: boolean }>(
  'close_task',
  `
 with ${endsTask('exists (select 1 from transfers where transfers.id = :holdId and amount = :heldMicros)')}
 , done as (
   ${closeJobsOfTask}
 ), unused as (
   ${expireResultsOfFailed}
 ), moved as (
   update balances
      set held = held - :heldMicros, available = available + :change,
          open_tasks = open_tasks - 1, last_seq = last_seq + :count
     from ended
    where balances.account_id = ended.account_id
   returning balances.account_id, available, held, last_seq, key_id, created_at
 ), written as (
   insert into transfers
          (id, account_id, seq, kind, debit, credit, amount, available_after, held_after,
           task_id, key_id, task_created_at)
   select row.id, moved.account_id, moved.last_seq - :count + row.position, row.kind,
          row.debit, row.credit, row.amount, moved.available - :change + row.so_far,
          moved.held + row.held_left, :taskId, moved.key_id, moved.created_at
     from moved, json_to_recordset(:movements) as row
          (id text, kind text, debit text, credit text, amount bigint,
           position int, so_far bigint, held_left bigint)
 )
 select "hasCallback" from result, moved`,
);

type CreditResult =
  | 'created'
  | 'exists'
  | 'exists_with_different_amount'
  | 'exists_with_different_task'
  | 'different_currency'
  | 'unknown_task'
  | 'unfinished_task';

interface Credit {
  readonly accountId: string;
  readonly amountMicros: number;
  readonly reference: string;
  readonly reason: string;
  readonly kind?: 'credit' | 'correction';
  readonly currency?: string;
  /** The ended task of the account whose bill a correction puts right. */
  readonly taskId?: string;
}

/**
 * Adds money, or removes money with a correction. The caller chooses the reference: a repeated call
 * with the same reference moves nothing. If a currency is given, it must be the currency of the
 * account.
 */
export async function creditAccount(db: Knex, credit: Credit): Promise<CreditResult> {
  const { accountId, amountMicros, reference, reason, kind = 'credit', taskId = null } = credit;
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
    const known = await trx.raw<{ rows: { change: number; taskId: string | null }[] }>(
      `select case credit when 'available' then amount else -amount end as change,
              task_id as "taskId"
         from transfers where id = ?`,
      [id],
    );
    const [before] = known.rows;
    if (before && before.change !== amountMicros) return 'exists_with_different_amount';
    if (before) return before.taskId === taskId ? 'exists' : 'exists_with_different_task';
    const fault = taskId === null ? null : await taskFault(trx, accountId, taskId);
    if (fault) return fault;
    const moved = await trx.raw<{ rows: unknown[] }>(
      `with moved as (
         update balances set available = available + :amountMicros, last_seq = last_seq + 1
          -- The cast fails if the holds could not be returned to this balance.
          where account_id = :accountId
            and cast(available + held + :amountMicros as signed_micros) is not null
         returning available, held, last_seq
       )
       insert into transfers
              (id, account_id, seq, kind, debit, credit, amount, available_after, held_after,
               task_id, reason)
       select :id, :accountId, last_seq, :kind, :debit, :credit, cast(:amount as bigint),
              available, held, :taskId, :reason
         from moved returning 1`,
      {
        ...{ id, accountId, kind, reason, amountMicros, taskId },
        amount: Math.abs(amountMicros),
        debit: amountMicros > 0 ? from : 'available',
        credit: amountMicros > 0 ? 'available' : from,
      },
    );
    assert(moved.rows.length > 0, `the account ${accountId} has books`);
    return 'created';
  });
}

/** An end is final, so the answer stays true without a lock. */
async function taskFault(trx: Knex.Transaction, accountId: string, taskId: string) {
  const { rows } = await trx.raw<{ rows: { isFinal: boolean }[] }>(
    `select finished_at is not null as "isFinal" from tasks where id = ? and account_id = ?`,
    [taskId, accountId],
  );
  if (!rows[0]) return 'unknown_task';
  return rows[0].isFinal ? null : 'unfinished_task';
}

function priceOf({ accountId, plan }: TaskInput) {
  return { accountId, ...askedFor(plan) };
}
