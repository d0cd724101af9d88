// Claims rows whose duty is due. Concurrent callers get different rows. Accounts take turns, beginning
// after the account that had the last turn; each account of a round gets as many rows as the others,
// those first that are due longest. A claimed row is due again when its lease ends, unless the duty is
// fulfilled before.

import type { Knex } from 'knex';

interface Claim {
  readonly table: 'tasks' | 'jobs' | 'callbacks' | 'alerts';
  readonly key: string;
  /** SQL for the rows of this duty. */
  readonly owing: string;
  /** SQL for the lease, an interval. */
  readonly lease: string;
  /** SQL for what is read of the rows `claimed`, and the tables that are joined to them. */
  readonly columns: string;
  readonly joined?: string;
}

/** Returns a function that claims at most so many rows. It remembers the account of the last turn. */
export function claimInTurns<Row extends { readonly accountId: string }>(
  db: Knex,
  claim: Claim,
): (limit: number) => Promise<readonly Row[]> {
  const text = claiming(claim);
  let lastTurn = '';
  return async (limit) => {
    const { rows } = await db.raw<{ rows: Row[] }>(text, { limit, lastTurn });
    lastTurn = rows.at(-1)?.accountId ?? lastTurn;
    return rows;
  };
}

/**
 * After the start of the process and after a claim that failed, nothing is claimed until the database
 * has answered for ten seconds. During an outage nobody renews a lease. Those that live renew it first.
 */
export function afterOutages<Row>(
  ask: () => Promise<unknown>,
  claim: (limit: number) => Promise<readonly Row[]>,
  answersForMs = 10_000,
): (limit: number) => Promise<readonly Row[]> {
  let answersSince: number | null = null;
  return async (limit) => {
    try {
      const hasAnswered = () =>
        answersSince !== null && performance.now() - answersSince >= answersForMs;
      if (!hasAnswered()) await ask();
      answersSince ??= performance.now();
      return hasAnswered() ? await claim(limit) : [];
    } catch (error) {
      answersSince = null;
      throw error;
    }
  };
}

function claiming({ table, key, owing, lease, columns, joined = '' }: Claim): string {
  const isDue = `${owing} and due_at <= now()`;
  // In the order of the ids, and after the last account the first.
  const accountAfter = (id: string) => `
    select coalesce((select account_id from ${table} where ${isDue} and account_id > ${id}
                      order by account_id, due_at limit 1),
                    (select account_id from ${table} where ${isDue}
                      order by account_id, due_at limit 1)) as id`;
  return `
    with recursive turns as (
      select id, id as first, 1 as turn from (${accountAfter(':lastTurn')}) next
       where id is not null
      union all
      select next.id, first, turn + 1
        from turns cross join lateral (${accountAfter('turns.id')}) next
       where turn < :limit and next.id <> first
    ), due as materialized (
      select row.*, turn
        from turns cross join lateral (
          select ${key} from ${table}
           where account_id = turns.id and ${isDue}
           order by due_at limit greatest(1, :limit / (select count(*) from turns))
             for update skip locked) row
    ), claimed as (
      update ${table} set due_at = now() + ${lease}
       where (${key}) in (select ${key} from due)
      returning ${table}.*
    )
    select ${columns} from claimed join due using (${key}) ${joined} order by due.turn`;
}
