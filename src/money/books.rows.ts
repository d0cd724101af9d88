// What all books together say: what customers own now, what they were given in a period, and until when
// the audit found no difference.

import type { Knex } from 'knex';
import { firstInstant } from '../accounts/budgets.rows';
import type { Days } from './usage.rows';

export interface Books {
  readonly availableMicros: number;
  readonly heldMicros: number;
  /** What customers were given in the period. Corrections are below zero if they took more. */
  readonly creditedMicros: number;
  readonly correctedMicros: number;
  /** Null if no audit has run yet, or if none has agreed. */
  readonly auditedAt: Date | null;
  readonly agreedUntil: Date | null;
}

/** The days begin in the time zone of the reports. */
export async function readBooks(db: Knex, { from, to }: Days): Promise<Books> {
  const { rows } = await db.raw<{ rows: Books[] }>(
    `with period as (
       select ${firstInstant('first', 'zone')} as begins, ${firstInstant('after_last', 'zone')} as ends
         from usage_state
        cross join (select cast(:from as timestamp) as first,
                           cast(:to as timestamp) + interval '1 day' as after_last) days
     ), given as (
       select coalesce(sum(amount) filter (where kind = 'credit'), 0)::float8 as credited,
              coalesce(sum(case credit when 'available' then amount else -amount end)
                         filter (where kind = 'correction'), 0)::float8 as corrected
         from period
         join transfers on task_created_at is null and created_at >= begins and created_at < ends
     ), owned as (
       select coalesce(sum(available), 0)::float8 as available,
              coalesce(sum(held), 0)::float8 as held from balances
     )
     select owned.available as "availableMicros", owned.held as "heldMicros",
            given.credited as "creditedMicros", given.corrected as "correctedMicros",
            ran_at as "auditedAt", agreed_until as "agreedUntil"
       from owned cross join given left join loops on loops.kind = 'audit'`,
    { from, to },
  );
  const [books] = rows;
  if (!books) throw new Error('A sum has one row.');
  return books;
}
