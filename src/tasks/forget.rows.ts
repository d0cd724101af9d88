// Reduces ended tasks to slim rows: ids, model, status, times and bill. Old tasks and the tasks of
// an erased account are forgotten in this way. The movements of money are never removed, so each
// movement still has its task. An empty `request_hash` marks a forgotten task, and `erasedHash` one
// that is forgotten but for its plan, its jobs and its callback: old-tasks.rows.ts finds it again.

import type { Knex } from 'knex';
import type { TaskObject } from '../contract/task';
import { isToBeCancelled } from '../jobs/cancels.rows';
import { erasedHash, erasedObject } from './task.rules';

export interface ForgettableTask {
  readonly id: string;
  readonly object: TaskObject;
}

// The reconciler and a search for a lost job may still read the plan, the jobs and the callback of
// a task that ended less than 35 days ago, and that still owes something. Only their texts are erased.
export const neededFor = `interval '35 days'`;
export const owesNothing = (taskId: string) => `
  not exists (select from jobs
               where task_id = ${taskId} and (state <> 'closed' or ${isToBeCancelled}))
  and not exists (select from callbacks where task_id = ${taskId} and state = 'pending')`;

/**
 * Forgets these tasks and returns their number. The caller has already deleted the results from
 * the storage. A callback that is not delivered yet is stopped.
 */
export async function forgetTasks(db: Knex, tasks: readonly ForgettableTask[]): Promise<number> {
  if (tasks.length === 0) return 0;
  const objects = tasks.map(({ id, object }) => ({ id, object: erasedObject(object) }));
  const { rows } = await db.raw<{ rows: { forgotten: number }[] }>(
    `with forgotten as (
       update tasks
          set object = known.object, request = '{}', repeats = null,
              (request_hash, plan) = (
                select case when is_last then '' else '${erasedHash}' end,
                       case when is_last then '{}' else (plan::jsonb - 'files')::json end
                  from (select finished_at < now() - ${neededFor}
                               and ${owesNothing('tasks.id')} as is_last) as known_last)
         from json_to_recordset(?) as known (id text, object json)
        where tasks.id = known.id and finished_at is not null
       returning tasks.id, request_hash = '' as is_last
     ), without_files as (
       delete from files using forgotten where task_id = forgotten.id and state = 'removed'
     ), without_labels as (
       delete from task_labels using forgotten where task_id = forgotten.id
     ), without_attempts as (
       delete from callback_attempts using forgotten where task_id = forgotten.id
     ), without_jobs as (
       delete from jobs using forgotten
        where task_id = forgotten.id and is_last and state = 'closed' and not (${isToBeCancelled})
     ), without_reports as (
       update jobs
          set report = case when report is not null
                            then jsonb_build_object('status', jobs.status) end,
              refusal = null
         from forgotten
        where task_id = forgotten.id and (report is not null or refusal is not null)
          and not (is_last and state = 'closed' and not (${isToBeCancelled}))
     ), without_callbacks as (
       delete from callbacks using forgotten
        where task_id = forgotten.id and is_last and state <> 'pending'
     ), without_addresses as (
       update callbacks
          set url = '', next_at = null, deliveries = deliveries + 1, changed_at = now(),
              state = case state when 'pending' then 'stopped' else state end
         from forgotten
        where task_id = forgotten.id and not (is_last and state <> 'pending')
     )
     select count(*)::int as forgotten from forgotten`,
    [JSON.stringify(objects)],
  );
  return rows[0]?.forgotten ?? 0;
}
