// Generates old tasks by SQL. Each is a copy of a finished task with its job, its movements and its
// result. The file of the copied result counts as removed. The creation times of the copies are 300
// days ago and 33 ms apart. The books agree afterwards.

import type { Account, World } from '../world';
import { models } from '../world';
import { createTasks, untilCount } from './tasks';

/** Returns the number of written rows. */
export async function seedOld(world: World, account: Account, count: number): Promise<number> {
  const one = { model: models.instant, count: 1, inFlight: 1 };
  const { ids } = await createTasks(world, account, one);
  await untilCount(world, ids, 'finished', 30_000);
  const [template = ''] = ids;
  const client = await world.pool.connect();
  let rows = 0;
  try {
    await client.query(`set statement_timeout = '10min'`);
    await client.query('begin');
    // Turns off the checks of foreign keys, to save time. The copies satisfy all foreign keys.
    await client.query('set local session_replication_role = replica');
    for (const copy of [copyTasks, copyJobs, copyTransfers, copyFiles]) {
      rows += (await client.query(copy, [template, count])).rowCount ?? 0;
    }
    await client.query(moveBalance, [template, count]);
    await client.query('commit');
    for (const table of ['tasks', 'jobs', 'transfers', 'files']) {
      await client.query(`vacuum analyze ${table}`);
    }
    await client.query('checkpoint');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release(true);
  }
  return rows;
}

const copies = `generate_series(1, $2::int) n`;
const createdAt = `date_trunc('day', now()) - interval '300 days' + n * interval '33 ms'`;

const copyTasks = `
  insert into tasks (id, account_id, key_id, model, object, request, plan,
                     request_hash, trace_id, created_at, deadline_at, finished_at)
  select id || '_' || n, account_id, key_id, model, object, request, plan,
         request_hash, trace_id, ${createdAt}, ${createdAt}, ${createdAt} + interval '1 minute'
    from tasks, ${copies} where id = $1`;

const copyJobs = `
  insert into jobs (task_id, kind, account_id, channel, upstream_model, state, upstream_id, status,
                    report, sent_at, opened_at)
  select task_id || '_' || n, kind, account_id, channel, upstream_model, 'closed',
         upstream_id || '_' || n, status, report, sent_at, opened_at
    from jobs, ${copies} where task_id = $1`;

const copyFiles = `
  insert into files (id, account_id, task_id, role, state, key, link_token, media, content_type,
                     length, sha256, expires_at, removed_at, removed_because)
  select id || '_' || n, account_id, task_id || '_' || n, role, 'removed', key || '_' || n,
         link_token || '_' || n, media, content_type, length, sha256, now(), now(), 'expired'
    from files, ${copies} where task_id = $1`;

const change = `case when credit = 'available' then amount
                     when debit = 'available' then -amount else 0 end`;

const copyTransfers = `
  with template as (
    select *, row_number() over (order by seq) as place, count(*) over () as movements,
           sum(${change}) over (order by seq) as so_far, sum(${change}) over () as whole
      from transfers where task_id = $1
  )
  insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                         held_after, task_id, key_id, task_created_at, created_at)
  select replace(template.id, $1, $1 || '_' || n), account_id,
         last_seq + (n - 1) * movements + place, kind, debit, credit, amount,
         available + (n - 1) * whole + so_far, held_after, task_id || '_' || n, key_id,
         ${createdAt}, ${createdAt} + interval '1 minute'
    from template join balances using (account_id), ${copies}`;

const moveBalance = `
  update balances
     set available = available + $2::bigint * moved.change,
         last_seq = last_seq + $2::bigint * moved.movements
    from (select account_id, count(*) as movements, sum(${change}) as change
            from transfers where task_id = $1 group by account_id) moved
   where balances.account_id = moved.account_id`;
