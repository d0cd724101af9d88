// Adds many finished tasks by SQL. Each is a copy of a real task with its job and its movements.
// The books agree afterwards.

import { newTaskId } from '../../src/database/ids';
import type { Account, World } from '../world';
import { models } from '../world';
import { createTasks, untilCount } from './tasks';

const batch = 5_000;

/** Returns the ids of the new finished tasks of this account. */
export async function seedFinished(
  world: Pick<World, 'apiUrl' | 'pool'>,
  account: Account,
  count: number,
): Promise<readonly string[]> {
  const { ids } = await createTasks(world, account, {
    model: models.instant,
    count: 1,
    inFlight: 1,
  });
  await untilCount(world, ids, 'finished', 30_000);
  const [template = ''] = ids;
  const seeded: string[] = [];
  for (let from = 0; from < count; from += batch) {
    const some = Array.from({ length: Math.min(batch, count - from) }, () => newTaskId(Date.now()));
    await copy(world, account.accountId, template, some);
    seeded.push(...some);
  }
  await world.pool.query('vacuum analyze tasks');
  await world.pool.query('vacuum analyze jobs');
  await world.pool.query('vacuum analyze transfers');
  // Otherwise PostgreSQL would write these rows to disk during a measurement.
  await world.pool.query('checkpoint');
  return seeded;
}

async function copy(
  { pool }: Pick<World, 'pool'>,
  accountId: string,
  template: string,
  ids: readonly string[],
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(copyTasks, [template, ids]);
    await client.query(copyJobs, [template, ids]);
    await client.query(copyTransfers, [template, ids, accountId]);
    await client.query(moveBalance, [template, ids.length, accountId]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const copyTasks = `
  insert into tasks (id, account_id, model, object, request, plan,
                     request_hash, trace_id, created_at, deadline_at, finished_at)
  select new.id, account_id, model,
         replace(object::text, $1, new.id)::json, request, plan, request_hash, trace_id,
         created_at, deadline_at, finished_at
    from tasks, unnest($2::text[]) as new (id)
   where tasks.id = $1`;

const copyJobs = `
  insert into jobs (task_id, kind, account_id, channel, upstream_model, state, upstream_id,
                    status, report, sent_at, opened_at)
  select new.id, kind, account_id, channel, upstream_model, state, 'seeded-' || new.id,
         status, report, sent_at, opened_at
    from jobs, unnest($2::text[]) as new (id)
   where task_id = $1`;

// Each copy has all movements of the template in order, and reduces `available` by its charge.
const copyTransfers = `
  with template as (
    select *, row_number() over (order by seq) as place, count(*) over () as movements,
           sum(case when credit = 'available' then amount
                    when debit = 'available' then -amount else 0 end) over (order by seq) as so_far,
           sum(case when credit = 'held' then amount
                    when debit = 'held' then -amount else 0 end) over (order by seq) as held_so_far
      from transfers where task_id = $1
  ), whole as (
    select sum(case when credit = 'available' then amount
                    when debit = 'available' then -amount else 0 end) as change from template
  )
  insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                         held_after, task_id, reason)
  select replace(template.id, $1, new.id), $3,
         last_seq + (new.place - 1) * movements + template.place,
         kind, debit, credit, amount,
         available + (new.place - 1) * whole.change + so_far,
         held + held_so_far, new.id, reason
    from template, whole, balances, unnest($2::text[]) with ordinality as new (id, place)
   where balances.account_id = $3`;

const moveBalance = `
  update balances
     set available = available + $2::bigint * moved.change,
         last_seq = last_seq + $2::bigint * moved.movements
    from (select count(*) as movements,
                 sum(case when credit = 'available' then amount
                          when debit = 'available' then -amount else 0 end) as change
            from transfers where task_id = $1) moved
   where account_id = $3`;
