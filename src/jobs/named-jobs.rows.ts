// Changes several jobs in one statement, which finds them by their keys.

import type { Knex } from 'knex';
import { isOneOf } from '../database/by-key';
import type { JobName } from './job.rules';

interface Change {
  /** SQL for the new values. */
  readonly set: string;
  /** SQL for the jobs that change; the others stay as they are. */
  readonly where: string;
}

export async function changeNamed(
  db: Knex,
  names: readonly JobName[],
  { set, where }: Change,
): Promise<void> {
  if (names.length === 0) return;
  await db.raw(
    `update jobs set ${set}
       from json_to_recordset(?) as n (task_id text, kind text)
      where jobs.task_id = n.task_id and jobs.kind = n.kind
        and ${where} and ${isOneOf('jobs.task_id', '?')}`,
    [
      JSON.stringify(names.map(({ taskId, kind }) => ({ task_id: taskId, kind }))),
      names.map(({ taskId }) => taskId),
    ],
  );
}
