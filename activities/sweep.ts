// The sweep behind the reconciler: finds what no workflow will ever finish and finishes it. A
// terminated workflow runs no code, a lost engine has none, so here is the only place where a task
// ends without its workflow. It describes a rolling slice of open rows, for an engine cannot be
// asked about all of them every minute.

import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { isRetryable } from '../src/db/database';
import type { OpenRow } from '../src/db/sweep';
import {
  auditFailed,
  closeJobsOfEnded,
  findOpenRows,
  isAuditDue,
  listChannelsInUse,
  listOverdue,
  listUnwatched,
  nextSlice,
} from '../src/db/sweep';
import { forgetUnknownStart, isUnknownStart, listUnknownStarts } from '../src/db/unknown-starts';
import { billing } from '../src/domain/pricing';
import { expiredMessage, taskObject } from '../src/domain/task';
import type {
  ClosedTask,
  CloseTask,
  JobKind,
  JobOrder,
  SweepInput,
  SweepReport,
} from '../workflows/messages';
import { workflowNames } from '../workflows/messages';
import { restartLostCallbacks, startDelivery } from './callback-sweep';
import { whileBeating } from './heartbeat';
import type { SubmitDeps } from './submit';
import { lookAfterUnplaced } from './unplaced';

export interface SweepDeps extends SubmitDeps {
  readonly client: Client;
  /** The queue of the tasks' workflows; callbacks of tasks closed here are started on it. */
  readonly taskQueue: string;
  readonly closeTask: (close: CloseTask) => Promise<ClosedTask>;
  readonly cancelJob: (order: JobOrder) => Promise<void>;
  readonly ensureWatchers: (channels: readonly string[]) => Promise<void>;
  readonly countAuditDifferences: () => Promise<number>;
}

// 200 describes a sweep is 3 a second: a tenth of what one engine process answers beside its work.
const sliceSize = 200;
// A live task this far past its deadline has a workflow that cannot act any more.
const overdueGraceSeconds = 300;
// Visibility is written late; ten minutes of overlap make up for that and for a missed sweep or
// two.
const visibilityWindowMs = 10 * 60_000;
// A workflow task that failed this often will not mend itself: somebody has to deploy or reset.
const attemptsBeforeStuck = 4;
const auditEverySeconds = 3600;
// Of the five minutes that a sweep may take.
const stopJobsForMs = 2 * 60_000;
// By then nobody looks for what a create on its way has left behind.
const jobsSettleSeconds = 15 * 60;
// The engine drops calls whose deadline has passed, which is seconds after they were sent.
const neverStartedSeconds = 120;

export function createSweepActivities(deps: SweepDeps) {
  return {
    sweep: (_input: SweepInput): Promise<SweepReport> => whileBeating(() => sweepOnce(deps)),
  };
}

async function sweepOnce(deps: SweepDeps): Promise<SweepReport> {
  await deps.ensureWatchers(await listChannelsInUse(deps.db));
  for (const channel of await listUnwatched(deps.db, 60)) {
    deps.events.finding('unwatched', '', channel);
  }
  const callbacks = await restartLostCallbacks(deps);
  await cancelUnknownStarts(deps);
  await lookAfterUnplaced(deps);
  await closeJobsOfEnded(deps.db, jobsSettleSeconds);
  const toStop: OpenRow[] = [];
  const stopped = await stopOverdue(deps, toStop);
  const ended = await findOpenRows(deps.db, await listRecentlyEnded(deps));
  const slice = await nextSlice(deps.db, sliceSize);
  const closed: string[] = [];
  const stuck: string[] = [];
  for (const row of [...ended, ...slice]) {
    const state = await stateOf(deps.client, row.id);
    if (state === 'stuck') {
      stuck.push(row.id);
      deps.events.finding('stuck', row.id, 'its workflow tasks keep failing');
    }
    if (state !== 'ended' || closed.includes(row.id)) continue;
    if (await closeReadable(deps, row, toStop)) closed.push(row.id);
  }
  const auditDifferences = await auditWhenDue(deps);
  await stopJobs(deps, toStop);
  return {
    lookedAt: ended.length + slice.length,
    closed,
    stopped,
    stuck,
    auditDifferences,
    callbacks,
  };
}

/**
 * Null when the books were checked less than an hour ago. A check that fails is made again by the
 * next sweep.
 */
async function auditWhenDue(deps: SweepDeps): Promise<number | null> {
  if (!(await isAuditDue(deps.db, auditEverySeconds))) return null;
  try {
    const differences = await deps.countAuditDifferences();
    deps.events.audited(differences);
    return differences;
  } catch (error) {
    await auditFailed(deps.db);
    throw error;
  }
}

async function stopOverdue(deps: SweepDeps, toStop: OpenRow[]): Promise<string[]> {
  const stopped: string[] = [];
  for (const row of await listOverdue(deps.db, overdueGraceSeconds)) {
    try {
      await deps.client.workflow.getHandle(row.id).terminate('past its deadline');
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    if (await closeReadable(deps, row, toStop)) stopped.push(row.id);
  }
  return stopped;
}

async function listRecentlyEnded({ client, now }: SweepDeps): Promise<string[]> {
  const since = new Date(now() - visibilityWindowMs).toISOString();
  const query =
    `WorkflowType = '${workflowNames.generateVideo}' and CloseTime > '${since}' and ` +
    `ExecutionStatus in ('Terminated', 'Failed', 'TimedOut', 'Canceled')`;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: 200 })) {
    ids.push(workflowId);
    if (ids.length >= 2_000) break;
  }
  return ids;
}

async function stateOf(client: Client, taskId: string): Promise<'live' | 'stuck' | 'ended'> {
  try {
    const { status, raw } = await client.workflow.getHandle(taskId).describe();
    if (status.name !== 'RUNNING') return 'ended';
    const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
    return attempt >= attemptsBeforeStuck ? 'stuck' : 'live';
  } catch (error) {
    // The engine answers but does not know the task: it has lost it, or its retention has passed.
    if (error instanceof WorkflowNotFoundError) return 'ended';
    throw error;
  }
}

/**
 * A row that cannot be read is one operator's riddle and must not keep the sweep from all the
 * others.
 */
async function closeReadable(deps: SweepDeps, row: OpenRow, toStop: OpenRow[]): Promise<boolean> {
  try {
    const first = await closeRow(deps, row);
    if (first) toStop.push(row);
    return first;
  } catch (error) {
    if (isRetryable(error)) throw error;
    deps.events.finding('unreadable', row.id, String(error));
    return false;
  }
}

/** Fails the task, returns the hold, then calls back. True when it was still open. */
async function closeRow(deps: SweepDeps, row: OpenRow): Promise<boolean> {
  const nowMs = deps.now();
  const { plan } = row.input;
  const message =
    nowMs > row.deadlineAtMs
      ? expiredMessage(plan.expiresAfterSeconds)
      : 'The task was stopped by the service.';
  const object = taskObject(
    { id: row.id, traceId: row.traceId, model: row.model, createdAt: row.createdAtSeconds },
    {
      status: 'failed',
      finishedAt: Math.floor(nowMs / 1000),
      error: { code: 'task_error', message },
      billing: billing(plan, { lines: [], final: true }),
    },
  );
  const heldMicros = plan.hold.amountMicros;
  const { first } = await deps.closeTask({ taskId: row.id, object, heldMicros, charge: [] });
  if (!first) return false;
  deps.events.finding('closed', row.id, message);
  // It is owed from the same transaction on; one that cannot be started now is started by a later
  // sweep.
  if (row.callbackUrl) await startDelivery(deps, { taskId: row.id }).catch(() => undefined);
  return true;
}

/**
 * After all refunds, eight at a time and not for ever: a service that is silent must not hold up
 * the next sweep.
 */
async function stopJobs(deps: SweepDeps, rows: readonly OpenRow[]): Promise<void> {
  const until = deps.now() + stopJobsForMs;
  const waiting = rows.flatMap((row) =>
    (['generation', 'super_resolution'] satisfies JobKind[]).map((kind) => ({ row, kind })),
  );
  const stopper = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { id: taskId, accountId, deadlineAtMs, traceId, input } = next.row;
      const order = { taskId, accountId, kind: next.kind, traceId, deadlineAtMs, videoUrl: null };
      try {
        if (deps.now() > until) throw new Error('The sweep had no time left for it.');
        await deps.cancelJob({ ...order, ...input });
      } catch (error) {
        deps.events.cancelGivenUp(taskId, next.kind, String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, stopper));
}

/** What an API could not find out in time, or did not live to: see src/api/unknown-starts.ts. */
async function cancelUnknownStarts({ db, client }: SweepDeps): Promise<void> {
  for (const { taskId, nonce, ageSeconds } of await listUnknownStarts(db, 30, sliceSize)) {
    const handle = client.workflow.getHandle(taskId);
    try {
      const { status, memo } = await handle.describe();
      const isOurs = status.name === 'RUNNING' && memo?.nonce === nonce;
      if (!isOurs) await forgetUnknownStart(db, taskId, nonce);
      else if (await isUnknownStart(db, taskId, nonce)) await handle.cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      // The engine answers and does not know it, long after any call could still arrive: it never
      // started.
      if (ageSeconds > neverStartedSeconds) await forgetUnknownStart(db, taskId, nonce);
    }
  }
}
