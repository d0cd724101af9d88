// Creates accounts and tasks for tests of the ledger, directly in the database. The API and the
// workflows are not involved.

import type { Knex } from 'knex';
import { formatMicros } from '../../src/accounts/amount.rules';
import type { VideoRequest } from '../../src/contract/request';
import { creditAccount, openTask } from '../../src/money/ledger.rows';
import type { BillingLine } from '../../src/planning/plan-types.rules';
import { taskObject } from '../../src/tasks/task.rules';
import type {
  CloseTask,
  NewTask,
  OpenedTask,
  TaskInput,
} from '../../src/tasks/task-transactions.rules';
import { aPlan, aRequest, aTaskInput } from './builders';

export async function anAccountWith(db: Knex, id: string, available: number): Promise<string> {
  await db.raw('insert into accounts (id, name) values (?, ?)', [id, id]);
  await db.raw('insert into balances (account_id) values (?)', [id]);
  if (available > 0) {
    const credit = { accountId: id, amountMicros: available, reference: 'start', reason: 'test' };
    await creditAccount(db, credit);
  }
  return id;
}

/** Changes movements, which nothing else may change: dates them back, for example. */
export async function changeMovements(
  db: Knex,
  change: string,
  bindings: readonly string[] = [],
): Promise<void> {
  await db.raw('alter table transfers disable trigger transfers_immutable');
  await db.raw(`update transfers ${change}`, bindings);
  await db.raw('alter table transfers enable trigger transfers_immutable');
}

// One time for all tasks, because a task that is opened again must equal the stored task.
const storedAtMs = Date.now();

/** The input of `openTask` for a task with exactly this hold. */
export function anOpening(accountId: string, taskId: string, holdMicros: number): TaskInput {
  const hold = { tokens: 1, lines: [aLine(holdMicros)], amountMicros: holdMicros };
  return aTaskInput({ accountId, taskId, plan: aPlan({ hold }), createdAtMs: storedAtMs });
}

/** The task that a create stores, with exactly this hold. */
export function aNewTask(accountId: string, taskId: string, holdMicros: number): NewTask {
  const { plan } = anOpening(accountId, taskId, holdMicros);
  return {
    taskId,
    accountId,
    keyId: 'key_test',
    request: aRequest(),
    plan,
    requestHash: 'hash',
    traceId: 't',
  };
}

interface PendingRow {
  /** The task is due at once: a starter may claim it. */
  readonly isDue: boolean;
  readonly toldPending: boolean;
  readonly request: VideoRequest;
  readonly requestHash: string;
}

/**
 * Stores a task as pending without a check of the balance. By default no starter claims the task
 * within an hour.
 */
export async function storePending(
  db: Knex,
  { taskId, accountId, plan, traceId, createdAtMs, deadlineAtMs }: TaskInput,
  {
    isDue = false,
    toldPending = false,
    request = aRequest(),
    requestHash = 'hash',
  }: Partial<PendingRow> = {},
): Promise<void> {
  await db.raw(
    `with stored as (
       insert into tasks
              (id, account_id, model, request, plan, request_hash, trace_id,
               hold_micros, told_pending, owes, due_at, created_at, deadline_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'start', now() + cast(? as interval), to_timestamp(?),
               to_timestamp(?))
       on conflict (id) do nothing returning account_id, hold_micros
     )
     update balances set pending = pending + hold_micros, pending_tasks = pending_tasks + 1
       from stored where balances.account_id = stored.account_id`,
    [
      taskId,
      accountId,
      plan.model,
      JSON.stringify(request),
      JSON.stringify(plan),
      requestHash,
      traceId,
      plan.hold.amountMicros,
      toldPending,
      isDue ? '0 s' : '1 h',
      createdAtMs / 1000,
      deadlineAtMs / 1000,
    ],
  );
}

/** Stores a task and opens it, as a create and its workflow do. */
export async function openNew(db: Knex, input: TaskInput): Promise<OpenedTask> {
  await storePending(db, input);
  return openTask(db, input);
}

/** Opens a stored task, as the workflow that was started for it does. */
export async function openStored(db: Knex, input: TaskInput): Promise<OpenedTask> {
  const { rows } = await db.raw<{ rows: { createdAtMs: number }[] }>(
    'select (extract(epoch from created_at) * 1000)::float8 as "createdAtMs" from tasks where id = ?',
    [input.taskId],
  );
  return openTask(db, { ...input, ...rows[0] });
}

export function aClosing(
  taskId: string,
  heldMicros: number,
  chargeMicros: number | null,
): CloseTask {
  const charge = chargeMicros === null ? [] : [aLine(chargeMicros)];
  const billing = {
    currency: 'CNY',
    held: formatMicros(heldMicros),
    charged: formatMicros(chargeMicros ?? 0),
    refunded: formatMicros(Math.max(0, heldMicros - (chargeMicros ?? 0))),
    items: [],
  };
  const object =
    chargeMicros === null
      ? taskObject(identityOf(taskId), {
          status: 'failed',
          finishedAt: 2,
          error: { code: 'task_error', message: 'no' },
          billing,
        })
      : taskObject(identityOf(taskId), {
          status: 'succeeded',
          finishedAt: 2,
          video: { url: 'https://m.example.com/v' },
          durationSeconds: 5,
          seed: 1,
          usage: { completion_tokens: 1, total_tokens: 1 },
          billing,
        });
  return { taskId, object, heldMicros, charge };
}

const aLine = (amountMicros: number): BillingLine => ({
  kind: 'generation',
  quantity: 1,
  unitPriceMicros: amountMicros,
  amountMicros,
});

const identityOf = (id: string) => ({ id, traceId: 't', model: 'studio-2.0', createdAt: 1 });

/** The held amount of all accounts together. */
export async function heldMicros(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { held: number }[] }>(
    'select coalesce(sum(held), 0)::bigint as held from balances',
  );
  return rows[0]?.held ?? -1;
}

/** Random numbers from a seed, so that a run can be repeated: mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * The seed of this run: SEED, or a number from the clock without SEED. The seed is printed, so that
 * a failure can be repeated.
 */
export function seedOfRun(): number {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  process.stdout.write(`seed ${seed}\n`);
  return seed;
}

/** `count` seeds, for tests with the seed in their names. If SEED is set, it is the only seed. */
export function seedsOfRun(count: number): readonly number[] {
  const first = seedOfRun();
  if (process.env.SEED) return [first];
  return Array.from({ length: count }, (_, n) => first + n);
}
