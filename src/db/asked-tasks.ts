// What the callers of some tasks asked for, for replies that repeat it.

import type { Knex } from 'knex';
import type { Plan } from '../domain/plan-types';
import { prepare } from './prepared-statement';

export interface AskedTask {
  readonly id: string;
  readonly model: string;
  /** Empty if the content of the task was erased. */
  readonly prompt: string | null;
  readonly plan: Plan;
  readonly createdAt: number;
}

/** The tasks of this account among these ids. */
export async function findAskedTasks(
  db: Knex,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AskedTask>> {
  const rows = await findAsked(db, { accountId, ids });
  return new Map(rows.map((row) => [row.id, row]));
}

const findAsked = prepare<AskedTask>(
  'find_asked_tasks',
  `select id, model, request->>'prompt' as prompt, plan,
          floor(extract(epoch from created_at))::int as "createdAt"
     from tasks where id = any(:ids) and account_id = :accountId`,
);
