// Stores a create as a pending task. One statement checks the account, stores the task, counts it in
// the pending sums of the account, and keeps its input files until its deadline. No money moves. A
// create that is refused here takes no lock. The sums are changed under the lock of their row and checked
// again there, so the balance covers all tasks that concurrent creates store. The time of a create is taken
// under this lock, so a reader of a list has never passed it. A create that may be stored under a budget takes
// the lock first, in a transaction, so it reads what the creates before it have spent.

import type { Knex } from 'knex';
import { type BudgetState, hasRoom } from '../accounts/budget.rules';
import { readBudgets } from '../accounts/budgets.rows';
import { countPending, lockPending } from '../accounts/pending-sums.rows';
import { prepare } from '../database/prepared-statement';
import { repeatLock } from './repeated.rows';
import type { NewTask } from './task-transactions.rules';
import { findTask, type ReadTask, type StoredTask, shownTask, storedColumns } from './tasks.rows';

interface AcceptOptions {
  /** True if the caller is answered with `pending`; false by default. */
  readonly toldPending?: boolean;
  /** The limit for accounts without a queued_max of their own. */
  readonly queuedTasksMax: number;
  /** True if a repeat without an Idempotency-Key may follow (repeated.rows.ts). */
  readonly mayBeRepeated?: boolean;
  /** False if the caller has gone while the create waited for a connection. */
  readonly isWanted?: () => boolean;
  /** Called with the budgets that were read, after the create was stored or a budget refused it. */
  readonly budgetsRead?: (budgets: readonly BudgetState[], isStored: boolean) => void;
}

export type Acceptance =
  | { readonly outcome: 'stored' }
  /** The id exists already, because the Idempotency-Key was used before. */
  | { readonly outcome: 'known'; readonly task: StoredTask }
  | { readonly outcome: 'over_budget'; readonly budget: BudgetState }
  | ({ readonly outcome: 'short' } & Standing)
  | ({ readonly outcome: 'full' } & Standing)
  | { readonly outcome: 'disabled' }
  | { readonly outcome: 'unwanted' };

/** The state of the account at the time of the check. */
interface Standing {
  readonly currency: string;
  readonly availableMicros: number;
  /** The sum of the holds of the account's pending tasks. */
  readonly pendingMicros: number;
  /** The number of the account's open and pending tasks. */
  readonly unfinished: number;
  readonly queuedMax: number;
  readonly isDisabled: boolean;
}

interface Decision extends Standing {
  readonly isStored: boolean;
  readonly known: ReadTask | null;
  readonly hasBudgets: boolean;
}

interface Checked {
  readonly budgets: 'unchecked' | 'fit';
  /**
   * The time at which the budgets were read, which becomes the time of the create: the task counts in
   * the period that was checked. Null for the time at which the sums were locked.
   */
  readonly at: string | null;
}

const unchecked: Checked = { budgets: 'unchecked', at: null };

export async function acceptTask(
  db: Knex,
  task: NewTask,
  options: AcceptOptions,
): Promise<Acceptance> {
  const { plan, taskId } = task;
  for (;;) {
    const decision = await decide(db, task, options).catch(unlessStored);
    if (decision === 'again') continue;
    if (!decision) return { outcome: 'unwanted' };
    const answered = answerOf(decision);
    if (answered) return answered;
    if (decision.isDisabled) return { outcome: 'disabled' };
    const left = decision.availableMicros - decision.pendingMicros;
    if (decision.currency !== plan.price.currency || left < plan.hold.amountMicros) {
      return { ...decision, outcome: 'short' };
    }
    if (decision.unfinished >= decision.queuedMax) {
      const refused = decision.hasBudgets ? await overBudget(db, task, options) : null;
      return refused ?? { ...decision, outcome: 'full' };
    }
    if (decision.hasBudgets) {
      const budgeted = await acceptWithinBudgets(db, task, options).catch(unlessStored);
      if (budgeted && budgeted !== 'again') return budgeted;
    }
    // The create was not stored, and no reason for a refusal was found. Either another call stored
    // the same id, or the account was changed while the statement waited. If the id is not stored,
    // the loop checks the create again.
    const stored = await findTask(db, taskId);
    if (stored) return { outcome: 'known', task: stored };
  }
}

/**
 * `again` if another call has stored the task while this statement waited. If that task is ended at the
 * same moment, the statement may also have met a deadlock with its end.
 */
function unlessStored(error: unknown): 'again' {
  const { code } = error as { code?: unknown };
  if (code === '40001' || code === '40P01') return 'again';
  throw error;
}

function answerOf({ isStored, known }: Decision): Acceptance | null {
  if (isStored) return { outcome: 'stored' };
  return known && { outcome: 'known', task: shownTask(known) };
}

/**
 * Tells the create of a full account of a budget without room. This takes no lock, because nothing is stored.
 * Returns null if every budget has room.
 */
async function overBudget(
  db: Knex,
  { taskId, accountId, keyId, plan }: NewTask,
  options: AcceptOptions,
): Promise<Acceptance | null> {
  const { budgets } = await readBudgets(db, accountId, keyId);
  const budget = withoutRoom(budgets, plan.hold.amountMicros);
  if (!budget) return null;
  // Another call may have stored the same id since the account was full. Its hold counts here too.
  const stored = await findTask(db, taskId);
  if (stored) return { outcome: 'known', task: stored };
  options.budgetsRead?.(budgets, false);
  return { outcome: 'over_budget', budget };
}

function withoutRoom(budgets: readonly BudgetState[], holdMicros: number): BudgetState | undefined {
  return budgets.find((standing) => !hasRoom(standing, holdMicros));
}

/**
 * Locks the pending sums, checks the budgets and tries to store the create. Returns null if no budget is
 * exceeded but the create was not stored. The caller then checks the create again.
 */
async function acceptWithinBudgets(
  db: Knex,
  task: NewTask,
  options: AcceptOptions,
): Promise<Acceptance | null> {
  const { accountId, keyId, plan } = task;
  const { accepted, budgets } = await db.transaction(async (trx) => {
    await lockPending(trx, accountId);
    // This is a separate statement, because it must see rows that were committed before the lock
    // was granted.
    const { at, budgets } = await readBudgets(trx, accountId, keyId);
    const budget = withoutRoom(budgets, plan.hold.amountMicros);
    const decision = await decide(trx, task, options, budget ? unchecked : { budgets: 'fit', at });
    return { accepted: answerWithin(budget, decision), budgets };
  });
  const outcome = accepted?.outcome;
  if (outcome === 'stored' || outcome === 'over_budget') {
    options.budgetsRead?.(budgets, outcome === 'stored');
  }
  return accepted;
}

function answerWithin(
  budget: BudgetState | undefined,
  decision: Decision | undefined,
): Acceptance | null {
  if (!decision) return { outcome: 'unwanted' };
  return answerOf(decision) ?? (budget ? { outcome: 'over_budget', budget } : null);
}

const acceptOrExplain = prepare<Decision>(
  'accept_task',
  `
  with known as (
    select ${storedColumns} from tasks where id = :taskId
  ), standing as (
    select currency, available, pending, open_tasks + pending_tasks as unfinished,
           coalesce(queued_max, cast(:queuedTasksMax as int)) as "queuedMax",
           disabled_at is not null as disabled
      from balances join accounts on accounts.id = account_id
     where account_id = :accountId
  ), budgeted as (
    select exists (select 1 from budgets
                    where account_id = :accountId
                      and (key_id is null or key_id = :keyId)) as "hasBudgets"
  ), allowed as (
    select "queuedMax" from standing, budgeted
     where not exists (select from known) and currency = :currency and available - pending >= cast(:hold as bigint)
       and unfinished < "queuedMax" and not disabled
       and (cast(:budgets as text) = 'fit' or not "hasBudgets")
       and case when cast(:mayBeRepeated as boolean)
                then pg_advisory_xact_lock_shared(${repeatLock}) is not null else true end
  ), counted as (${countPending}
  ), moment as (
    select coalesce(cast(:at as timestamptz), clock_timestamp()) as at from counted
  ), stored as (
    insert into tasks
           (id, account_id, key_id, model, request, plan, request_hash, trace_id,
            hold_micros, told_pending, repeats, created_at, owes, due_at, deadline_at)
    select :taskId, :accountId, cast(:keyId as text), :model, cast(:request as json), cast(:plan as json), :requestHash, :traceId,
           cast(:hold as bigint), cast(:toldPending as boolean),
           case when cast(:mayBeRepeated as boolean) then 0 end,
           at, 'start', at, at + make_interval(secs => cast(:expiresAfterSeconds as float8))
      from moment
    on conflict (id) do nothing
    returning id, account_id, created_at, deadline_at
  ), labelled as (
    insert into task_labels (task_id, account_id, name, value, created_at)
    select stored.id, stored.account_id, label.key, label.value, stored.created_at
      from stored, json_each_text(cast(:labels as json)) label
  ), named as (
    select files.id, stored.deadline_at
      from stored join files on files.account_id = stored.account_id
     where files.id = any(cast(:files as text[])) and files.state = 'stored'
       and files.expires_at < stored.deadline_at
     order by files.id for no key update of files
  ), kept as (
    update files set expires_at = greatest(files.expires_at, named.deadline_at)
      from named where files.id = named.id
  )
  select case when stored.id is not null then true
              when exists (select from counted) then refuse_stored_task()
              else false end as "isStored",
         (select row_to_json(known) from known) as known, "hasBudgets",
         coalesce(currency, :currency) as currency,
         coalesce(available, 0) as "availableMicros",
         coalesce(pending, 0) as "pendingMicros", coalesce(unfinished, 0) as unfinished,
         coalesce("queuedMax", 0) as "queuedMax",
         coalesce(disabled, false) as "isDisabled"
    from budgeted left join standing on true left join stored on true`,
);

/** Returns undefined if the create is not wanted any more. */
async function decide(
  db: Knex,
  task: NewTask,
  options: AcceptOptions,
  checked: Checked = unchecked,
): Promise<Decision | undefined> {
  const values = { ...valuesOf(task, options), ...checked };
  const [decision] = await acceptOrExplain(db, values, options.isWanted);
  return decision;
}

function valuesOf(
  { taskId, accountId, keyId, request, plan, requestHash, traceId }: NewTask,
  { toldPending = false, queuedTasksMax, mayBeRepeated = false }: AcceptOptions,
) {
  const { labels } = request.metadata;
  return {
    taskId,
    accountId,
    keyId,
    model: plan.model,
    labels: JSON.stringify(labels ?? {}),
    files: Object.values(plan.files ?? {}),
    request: JSON.stringify(request),
    plan: JSON.stringify(plan),
    requestHash,
    traceId,
    hold: plan.hold.amountMicros,
    currency: plan.price.currency,
    toldPending,
    expiresAfterSeconds: plan.expiresAfterSeconds,
    queuedTasksMax,
    mayBeRepeated,
  };
}
