// Accounts and tasks for tests of the books, made directly at the two doors.

import type { Knex } from 'knex';
import { creditAccount } from '../../src/db/ledger';
import { formatMicros } from '../../src/domain/money';
import type { BillingLine } from '../../src/domain/plan-types';
import { taskObject } from '../../src/domain/task';
import type { CloseTask, OpenTask } from '../../workflows/messages';
import { aPlan, aTaskInput } from './builders';

export async function anAccountWith(db: Knex, id: string, available: number): Promise<string> {
  await db.raw('insert into accounts (id, name) values (?, ?)', [id, id]);
  await db.raw('insert into balances (account_id) values (?)', [id]);
  if (available > 0) {
    const credit = { accountId: id, amountMicros: available, reference: 'start', reason: 'test' };
    await creditAccount(db, credit);
  }
  return id;
}

/** A task that holds exactly this much. */
export function anOpening(accountId: string, taskId: string, holdMicros: number): OpenTask {
  const hold = { tokens: 1, lines: [aLine(holdMicros)], amountMicros: holdMicros };
  const input = aTaskInput({ accountId, taskId, plan: aPlan({ hold }) });
  return {
    input,
    object: taskObject(identityOf(taskId), { status: 'submitted' }),
    createdAtMs: Date.now(),
    deadlineAtMs: Date.now() + 3_600_000,
  };
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

/** For all tasks of all customers. */
export async function heldMicros(db: Knex): Promise<number> {
  const { rows } = await db.raw<{ rows: { held: number }[] }>(
    'select coalesce(sum(held), 0)::bigint as held from balances',
  );
  return rows[0]?.held ?? -1;
}

/** Numbers from a seed, so that a run can be had again: mulberry32. */
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
 * The seed of this run: from SEED, else from the clock; printed, so that a failure can be repeated.
 */
export function seedOfRun(): number {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  process.stdout.write(`seed ${seed}\n`);
  return seed;
}

/** So many seeds, for tests that name them; the one of SEED alone where that is given. */
export function seedsOfRun(count: number): readonly number[] {
  const first = seedOfRun();
  if (process.env.SEED) return [first];
  return Array.from({ length: count }, (_, n) => first + n);
}
