// The life of one task for operators: the stored times of its steps, and the facts from which
// waiting.rules.ts tells why it waits. All rows are found by keys, except sums over waiting jobs.

import type { Knex } from 'knex';
import type { Billing } from '../contract/task';
import type { JobKind } from '../jobs/job.rules';
import { keepsSlot } from '../jobs/slots.rows';
import type { Plan } from '../planning/plan-types.rules';
import type { ChannelFacts, JobFacts, WaitingFacts } from './waiting.rules';

export interface JobLife extends JobFacts {
  readonly kind: JobKind;
  /** The channels for which it waits; null if it does not wait. */
  readonly channels: readonly string[] | null;
  readonly waitingSince: Date | null;
}

export interface TaskLife extends Pick<WaitingFacts, 'now' | 'createdAt' | 'isOpened'> {
  readonly finishedAt: Date | null;
  readonly deadlineAt: Date;
  readonly accountId: string;
  readonly accountName: string;
  /** The name of the key that created it. */
  readonly keyName: string | null;
  readonly runningMax: number | null;
  readonly running: number;
  readonly storingSince: Date | null;
  /** Empty if the task was forgotten. */
  readonly plan: Partial<Plan>;
  /** The items of its bill; null if it has none, as while it lives. */
  readonly billed: Billing['items'] | null;
  readonly jobs: readonly JobLife[];
}

export async function findLife(db: Knex, taskId: string): Promise<TaskLife | null> {
  const { rows } = await db.raw<{ rows: Omit<TaskLife, 'jobs'>[] }>(
    `select now() as now, tasks.created_at as "createdAt", owes is null as "isOpened",
            finished_at as "finishedAt", deadline_at as "deadlineAt", account_id as "accountId",
            accounts.name as "accountName",
            (select name from api_keys where id = tasks.key_id) as "keyName", plan,
            object #> '{billing,items}' as billed, running_max as "runningMax",
            (select count(*)::int from jobs
              where jobs.account_id = tasks.account_id and kind = 'generation'
                and channel is not null and state in ('waiting', 'sending', 'open')
                and ${keepsSlot}) as running,
            (select min(files.created_at) from files where task_id = tasks.id) as "storingSince"
       from tasks join accounts on accounts.id = account_id
      where tasks.id = ?`,
    [taskId],
  );
  const [row] = rows;
  return row ? { ...row, jobs: await jobsOf(db, taskId) } : null;
}

async function jobsOf(db: Knex, taskId: string): Promise<readonly JobLife[]> {
  const { rows } = await db.raw<{ rows: JobLife[] }>(
    `select kind, state, status, channel, channels, upstream_id as "upstreamId",
            case when owes = 'place' then due_at end as "attemptBy", waiting_since as "waitingSince", sent_at as "sentAt",
            opened_at as "openedAt", searched_since as "searchedSince",
            missing_since as "missingSince",
            case when state = 'waiting' then 1 + (
              select count(*)::int from jobs other
               where other.account_id = jobs.account_id and other.kind = jobs.kind
                 and other.state = 'waiting' and other.channels && jobs.channels
                 and (coalesce(other.turn_at, other.waiting_since), other.task_id)
                     < (coalesce(jobs.turn_at, jobs.waiting_since), jobs.task_id)) end as place
       from jobs where task_id = ? order by kind`,
    [taskId],
  );
  return rows;
}

type StoredChannel = Omit<ChannelFacts, 'slotsMax' | 'isInCatalogue'>;

/** What is stored about channels, in the given order. `fault` is a kind of fault. */
export async function readChannels(
  db: Knex,
  names: readonly string[],
): Promise<readonly StoredChannel[]> {
  const { rows } = await db.raw<{ rows: StoredChannel[] }>(
    `select name as channel, fault, fault_at as "faultAt", nullif(ran_at, 'epoch') as "roundAt",
            case when rests_until > now() then rests_until end as "restsUntil",
            paused_at as "pausedAt", paused_by as "pausedBy", paused_why as "pausedWhy",
            (select count(*)::int from jobs
              where jobs.channel = name and state <> 'closed' and ${keepsSlot}) as "slotsUsed",
            waiting.jobs as "waitingJobs", waiting.accounts as "waitingAccounts"
       from unnest(cast(? as text[])) with ordinality as named (name, place)
       left join loops on loops.kind = 'watcher' and loops.channel = name
      cross join lateral (
        select count(*)::int as jobs, count(distinct account_id)::int as accounts
          from jobs where state = 'waiting' and channels @> array[name]) waiting
      order by place`,
    [[...names]],
  );
  return rows;
}

/** The pending tasks of all customers. */
export async function readPending(db: Knex): Promise<WaitingFacts['pending']> {
  const { rows } = await db.raw<{ rows: WaitingFacts['pending'][] }>(
    `select count(*)::int as tasks, min(created_at) as "oldestAt" from tasks where owes is not null`,
  );
  return rows[0] ?? { tasks: 0, oldestAt: null };
}
