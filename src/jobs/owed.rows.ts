// What a live job owes (src/owed). `place`: an attempt to place the job is at work, under a lease that it
// renews; a lapsed lease means that its worker died. `turn`: the workflow must be told that the job
// can be placed. `tell`: it must be told the end of the job. The cancel of a job whose task has failed
// is in cancels.rows.ts.

import type { Knex } from 'knex';
import type { VideoRequest } from '../contract/request';
import { isInState, isOwing } from '../database/by-key';
import { prepare } from '../database/prepared-statement';
import { claimInTurns } from '../owed/claim.rows';
import { closeJobsOfTask, ofJobs } from './cancels.rows';
import type { JobName, JobReport } from './job.rules';
import { changeNamed } from './named-jobs.rows';

/** The lease of an attempt. It covers three renewals, so one that is late does no harm. */
export const placingLease = `interval '15 seconds'`;
const renewedFor = `interval '10 seconds'`;
const growsTo = `interval '5 minutes'`;

export interface Begun {
  /** The parsed body of the create. */
  readonly request: VideoRequest;
  readonly createdAt: Date;
}

/**
 * An attempt to place the job begins: it takes the lease, unless the lease was given out just now. A
 * turn is used from here on. Returns what the attempt needs of its task.
 */
export async function beginPlacing(db: Knex, { taskId, kind }: JobName): Promise<Begun | null> {
  const [begun] = await takeLease(db, { taskId, kind });
  return begun ?? null;
}

const takeLease = prepare<Begun>(
  'begin_placing',
  `with leased as (
     update jobs set owes = 'place', due_at = now() + ${placingLease}
      where task_id = :taskId and kind = :kind and ${isInState('planned', 'waiting', 'sending')}
        and (owes is distinct from 'place'
             or due_at not between now() + ${renewedFor} and now() + ${placingLease})
   )
   select request, created_at as "createdAt" from tasks where id = :taskId`,
);

/**
 * The attempt is still at work. Changes nothing once the job is placed or waits. A renewal that comes
 * late does not shorten the longer lease of a pause.
 */
export async function renewPlacing(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await renewLease(db, { taskId, kind });
}

const renewLease = prepare(
  'renew_placing',
  `update jobs set due_at = greatest(due_at, now() + ${placingLease})
    where task_id = :taskId and kind = :kind and ${isOwing('place')}`,
);

/**
 * No attempt is at work. The lease covers the pause before the next one, which takes the lease itself,
 * but at most five minutes.
 */
export async function pausePlacing(
  db: Knex,
  { taskId, kind }: JobName,
  pauseMs: number,
): Promise<void> {
  await db.raw(
    `update jobs
        set due_at = now() + least(${placingLease} + make_interval(secs => ?), ${growsTo})
      where task_id = ? and kind = ? and ${isOwing('place')}`,
    [pauseMs / 1_000, taskId, kind],
  );
}

export interface OwingJob extends JobName {
  readonly accountId: string;
  /** True if the job was planned at the moment at which its task ended. */
  readonly isLeft: boolean;
}

const columns = `
  task_id as "taskId", claimed.account_id as "accountId", kind, finished_at is not null as "isLeft"`;

/**
 * Claims jobs whose attempt has let its lease lapse. Mostly no attempt is at work: the next one has its
 * time, or waits for a free worker. It takes the lease itself, so the next look may come late.
 */
export const claimLapsed = (db: Knex) =>
  claimInTurns<LapsedJob>(db, {
    ...ofJobs,
    owing: `owes = 'place'`,
    lease: growing(`interval '30 seconds'`, 'least(waiting_since, sent_at)'),
    columns: `${columns}, waiting_since is not null as "hasWaited"`,
  });

/** A lease that grows with the time since this: each signal grows the history. */
const growing = (atLeast: string, since: string) =>
  `greatest(${atLeast}, least(now() - coalesce(${since}, now()), ${growsTo}))`;

interface LapsedJob extends OwingJob {
  /** True if the workflow may wait for a turn of the job. */
  readonly hasWaited: boolean;
}

interface OwingTurn extends OwingJob {
  /** True if the slot of the turn has gone to another job. */
  readonly isOver: boolean;
}

/**
 * Claims jobs whose workflow must be told. A job that has waited long is told seldom. A turn reserves a
 * slot for a short time only.
 */
export const claimTurns = (db: Knex) =>
  claimInTurns<OwingTurn>(db, {
    ...ofJobs,
    owing: `owes = 'turn'`,
    lease: `case jobs.state when 'waiting' then ${toldAgain}
                 else ${growing(toldAgain, 'waiting_since')} end`,
    columns: `${columns}, claimed.state = 'waiting' and turn_at < now() - ${reserved} as "isOver"`,
  });

/** A turn reserves a slot for this time. */
export const reserved = `interval '30 seconds'`;

/** The workflow is told again after this time. */
export const toldAgain = `interval '10 seconds'`;

/** The slot of the turn went to another job. This job queues on, unless it has got a newer turn. */
export async function endTurn(db: Knex, { taskId, kind }: JobName): Promise<void> {
  await db.raw(
    `update jobs set owes = null, due_at = null
      where task_id = ? and kind = ? and ${isOwing('turn')} and ${isInState('waiting')}
        and turn_at < now() - ${reserved}`,
    [taskId, kind],
  );
}

/** Whoever stores the end of a job tells it at once. It is told again until the workflow goes on. */
export const toldEndAgain = `interval '20 seconds'`;

/** Claims jobs whose end must be told again. */
export const claimTells = (db: Knex) =>
  claimInTurns<OwingJob & { readonly report: JobReport }>(db, {
    ...ofJobs,
    owing: `owes = 'tell'`,
    lease: toldEndAgain,
    columns: `${columns}, report`,
  });

/** The ends of these jobs could not be told. */
export async function tellSoon(db: Knex, names: readonly JobName[]): Promise<void> {
  await changeNamed(db, names, {
    set: `due_at = now() + interval '1 second'`,
    where: isOwing('tell'),
  });
}

/** any state → closed, for a job that was planned at the moment at which its task ended. */
export async function closeLeft(db: Knex, { taskId }: JobName): Promise<void> {
  await db.raw(
    `with ended as (select id, status from tasks where id = :taskId and finished_at is not null)
     ${closeJobsOfTask} and state <> 'closed'`,
    { taskId },
  );
}
