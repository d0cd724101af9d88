// Refused calls of each customer, by day and code. The API processes add what they have counted once a
// minute (commands/refusal-counts.ts), so a killed process loses its last minute.

import type { Knex } from 'knex';

export interface RefusedCalls {
  readonly accountId: string;
  readonly code: string;
  readonly calls: number;
}

/** Adds to the present day, in one statement. The order of its rows keeps two processes from a deadlock. */
export async function addRefusals(db: Knex, counted: readonly RefusedCalls[]): Promise<void> {
  await db.raw(
    `insert into refusals_days as stored (day, account_id, code, calls)
     select cast(now() at time zone zone as date), accounts.id, counted.code, counted.calls
       from unnest(cast(? as text[]), cast(? as text[]), cast(? as bigint[]))
            as counted (account_id, code, calls)
       join accounts on accounts.id = counted.account_id and erased_at is null
      cross join usage_state
      order by 2, 3
     on conflict (day, account_id, code) do update set calls = stored.calls + excluded.calls`,
    [
      counted.map(({ accountId }) => accountId),
      counted.map(({ code }) => code),
      counted.map(({ calls }) => calls),
    ],
  );
}

export async function forgetRefusals(db: Knex, keptDays: number): Promise<void> {
  await db.raw('delete from refusals_days where day < current_date - cast(? as integer)', [
    keptDays,
  ]);
}

/** SQL: the rows of the last seven days, today included. */
const isRecent = 'day > (select cast(now() at time zone zone as date) - 7 from usage_state)';

/** SQL: how many calls of each customer were refused in the last seven days. */
export const recentRefusals = `
  select account_id, cast(sum(calls) as bigint) as calls
    from refusals_days where ${isRecent} group by account_id`;

/** How many calls of these customers were refused in the last seven days. */
export async function refusedCalls(
  db: Knex,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.raw<{ rows: { account_id: string; calls: number }[] }>(
    `select account_id, calls from (${recentRefusals}) as recent where account_id = any(?)`,
    [[...accountIds]],
  );
  return new Map(rows.map(({ account_id, calls }) => [account_id, calls]));
}

export interface RefusalsOfDay {
  readonly day: string;
  readonly code: string;
  readonly calls: number;
}

/** The refused calls of a customer in the last seven days, the newest day first. */
export async function listRefusals(db: Knex, accountId: string): Promise<readonly RefusalsOfDay[]> {
  const { rows } = await db.raw<{ rows: RefusalsOfDay[] }>(
    `select to_char(day, 'YYYY-MM-DD') as day, code, calls
       from refusals_days where ${isRecent} and account_id = ?
      order by refusals_days.day desc, calls desc, code`,
    [accountId],
  );
  return rows;
}
