// What the reconciler reads: open rows, a slice at a time, and those whose time is long up. A row
// of `sweep_state` (there is one) remembers where the rolling slice stands and when the books were
// last checked.

import type { Knex } from 'knex';
import type { TaskInput } from '../../workflows/messages';

export interface OpenRow {
  readonly id: string;
  readonly accountId: string;
  readonly input: Pick<TaskInput, 'request' | 'plan'>;
  readonly traceId: string;
  readonly model: string;
  readonly createdAtSeconds: number;
  readonly deadlineAtMs: number;
  readonly callbackUrl: string | null;
}

const columns = `
  id, account_id as "accountId", json_build_object('request', request, 'plan', plan) as input,
  trace_id as "traceId", model, extract(epoch from created_at)::int as "createdAtSeconds",
  (extract(epoch from deadline_at) * 1000)::float8 as "deadlineAtMs", callback_url as "callbackUrl"`;

/**
 * The next rows of the rolling slice; starts over at the end. Rows of the last half minute are left
 * in peace.
 */
export async function nextSlice(db: Knex, size: number): Promise<readonly OpenRow[]> {
  const { rows } = await db.raw<{ rows: OpenRow[] }>(
    `select ${columns} from tasks
      where finished_at is null and created_at < now() - interval '30 seconds'
        and id > (select cursor from sweep_state)
      order by id limit ?`,
    [size],
  );
  await db.raw('update sweep_state set cursor = ?', [
    rows.length < size ? '' : (rows.at(-1)?.id ?? ''),
  ]);
  return rows;
}

export async function findOpenRows(db: Knex, ids: readonly string[]): Promise<readonly OpenRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.raw<{ rows: OpenRow[] }>(
    `select ${columns} from tasks where finished_at is null and id = any(?)`,
    [[...ids]],
  );
  return rows;
}

export async function listOverdue(db: Knex, graceSeconds: number): Promise<readonly OpenRow[]> {
  const { rows } = await db.raw<{ rows: OpenRow[] }>(
    `select ${columns} from tasks
      where finished_at is null and deadline_at < now() - make_interval(secs => ?)
      order by deadline_at limit 500`,
    [graceSeconds],
  );
  return rows;
}

/** Channels with open jobs whose loop has not gone round for a while. */
export async function listUnwatched(db: Knex, quietSeconds: number): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    `select distinct jobs.channel from jobs
      where state in ('open', 'reported') and opened_at < now() - make_interval(secs => ?)
        and not exists (select 1 from watchers
                         where watchers.channel = jobs.channel
                           and round_at > now() - make_interval(secs => ?))`,
    [quietSeconds, quietSeconds],
  );
  return rows.map((row) => row.channel);
}

export async function listChannelsInUse(db: Knex): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { channel: string }[] }>(
    `select distinct channel from jobs where state in ('waiting', 'sending', 'open', 'reported')`,
  );
  return rows.map((row) => row.channel);
}

/**
 * Jobs that were noted in the moment their task ended, so that its door could not see them. They
 * hold places of their channel.
 */
export async function closeJobsOfEnded(db: Knex, olderThanSeconds: number): Promise<void> {
  await db.raw(
    `update jobs set state = 'closed'
       from tasks
      where tasks.id = jobs.task_id and jobs.state in ('waiting', 'sending')
        and tasks.finished_at < now() - make_interval(secs => ?)`,
    [olderThanSeconds],
  );
}

/** An audit that was begun and not finished is due again. */
export async function auditFailed(db: Knex): Promise<void> {
  await db.raw('update sweep_state set audited_at = null');
}

/** True once an interval, for whichever process asks first. */
export async function isAuditDue(db: Knex, everySeconds: number): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update sweep_state set audited_at = now()
      where audited_at is null or audited_at < now() - make_interval(secs => ?)
     returning 1`,
    [everySeconds],
  );
  return rows.length > 0;
}
