// The story of one task: admit, generate, enhance, store, settle, announce. What the workflow knows and
// tells on the way is in task-progress.ts, and the endings are in src/tasks/ending.rules.ts. Only
// activities use the database, the providers and the storage. Calculations are rules of src.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  startChild,
} from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { TaskObject } from '../src/contract/task';
import type { StoredResults } from '../src/files/results.rules';
import type { JobInput, JobKind, JobReport } from '../src/jobs/job.rules';
import {
  cancelled,
  type Ending,
  expired,
  failedUpstream,
  finalObject,
  notStored,
  resultSources,
  type Work,
} from '../src/tasks/ending.rules';
import type { LiveTask } from '../src/tasks/task.rules';
import type { ClosedTask, TaskInput } from '../src/tasks/task-transactions.rules';
import { callbackActivities } from './deliver-callback';
import { callbackWorkflowId, workflowNames } from './messages';
import {
  cancelPolicy,
  findEndPolicy,
  firstCallbackPolicy,
  jobPolicy,
  lastCheckPolicy,
  storePolicy,
  transactionPolicy,
} from './policies';
import { TaskProgress } from './task-progress';

const { openTask, closeTask } = proxyLocalActivities<Activities>(transactionPolicy);
const { findEnd } = proxyLocalActivities<Activities>(findEndPolicy);
const { storeResults } = proxyActivities<Activities>(storePolicy);
const { readJob } = proxyActivities<Activities>(lastCheckPolicy);
const { cancelJob } = proxyActivities<Activities>(cancelPolicy);

/** The input of the workflow, and how far the task has come. */
interface Task extends TaskInput {
  readonly progress: TaskProgress;
}

export async function generateVideo(input: TaskInput): Promise<TaskObject> {
  const progress = new TaskProgress(identityOf(input), input.deadlineAtMs);
  const task: Task = { ...input, progress };
  // A cancel of the workflow stops only the jobs: this scope is the only one that it reaches. A cancel
  // never interrupts storing, settlement or the callback.
  const working = new CancellationScope();

  return CancellationScope.nonCancellable(async () => {
    // A task that was not admitted has ended, perhaps before its workflow began.
    const end = (await admit(task)) ?? (await finish(task, await work(task, working)));
    await Promise.all([announce(task.taskId, end), stopJob(task, end.object)]);
    await condition(allHandlersFinished);
    return end.object;
  });
}

/**
 * Opens the pending task and holds its money, in one transaction. Returns the end of the task if it
 * was refused or had already ended. Null: the task is open now, or an earlier attempt has opened it.
 */
async function admit({ progress, ...input }: Task): Promise<ClosedTask | null> {
  const opened = await openTask(input);
  if (opened.outcome !== 'opened' && opened.object) {
    const { object, hasCallback } = opened;
    return { object, hasCallback, first: opened.outcome === 'refused' };
  }
  progress.opened();
  return null;
}

/**
 * Makes the video, and returns how the task ends (docs/decisions.md, 9). The work is stopped if the
 * deadline passes or the task is cancelled.
 */
async function work(task: Task, working: CancellationScope): Promise<Ending> {
  let timeIsUp = false;
  const expire = () => {
    timeIsUp = true;
    working.cancel();
  };
  try {
    const report = await working.run(() => {
      const deadline = sleep(remainingMs(task), { summary: 'the task’s deadline' });
      deadline.then(expire, () => undefined);
      return makeVideo(task);
    });
    return isFailure(report) ? failedUpstream(report, task.plan) : { succeeded: true };
  } catch (error) {
    if (!isCancellation(error)) throw error; // Untested: only a defect leads here.
    if (await isMade(task, timeIsUp ? readJob : findEnd)) return { succeeded: true };
    return timeIsUp ? expired(task.plan) : cancelled();
  } finally {
    working.cancel(); // Cancels the timer of the deadline.
  }
}

/** Returns the report that ends the work: of the last job, or of one that failed. */
async function makeVideo(task: Task): Promise<JobReport> {
  const generated = await untilJobEnds(task, 'generation');
  const isEnhanced = task.plan.enhancement && !isFailure(generated);
  return isEnhanced ? untilJobEnds(task, 'super_resolution') : generated;
}

/**
 * Places the job at one of the plan's channels and returns the final report. If a channel is full and no
 * other takes the job, it first waits for a free slot.
 *
 * The activity `runJob` ends when the job has ended, which may take days, but no worker runs it for
 * so long. Once a channel has accepted the job, the activity throws `CompleteAsyncError`: it stays
 * open at Temporal, and the worker is free. The watcher of the channel polls the job and completes
 * the activity by its id, which is the kind of the job (activities/jobs/notify-tasks.ts).
 */
async function untilJobEnds(task: Task, kind: JobKind): Promise<JobReport> {
  const { progress } = task;
  for (;;) {
    progress.begun(kind);
    // Longer than the remaining time, so that the deadline timer ends the activity first.
    const startToCloseTimeout = remainingMs(task) + 60_000;
    const policy = { ...jobPolicy, startToCloseTimeout, activityId: kind };
    const { runJob } = proxyActivities<Activities>(policy);
    const job = await runJob(jobInput(task, kind));
    if (job.outcome !== 'waiting') {
      // A rejected job stays unfinished, so that stopJob looks for it: an earlier create, whose answer
      // was lost, may have made it all the same.
      if (job.outcome === 'ended') progress.ended(job.report);
      return job.report;
    }
    progress.waits();
    await condition(() => progress.takesTurn(kind));
  }
}

/**
 * Tells if the last job of the plan has made the video, although the workflow has not been told. At the
 * deadline the provider is asked too, because the job may have ended after the watcher's last poll. At a
 * cancel only the row counts: callers may have read there that the video is being stored.
 */
async function isMade(task: Task, read: Activities['readJob']): Promise<boolean> {
  if (!(await reachesLastJob(task))) return false;
  const { taskId, traceId, progress } = task;
  const kind = progress.lastJob;
  // Null: three reads failed, or no read was answered within 20 s.
  const report = await read({ taskId, kind, traceId }).catch(() => null);
  if (report?.status !== 'succeeded') return false;
  progress.ended(report);
  return true;
}

/**
 * Tells if only the last job of the plan is unfinished. After a reset past the deadline, only the rows know
 * the jobs of the earlier run, so the row of the first job is read.
 */
async function reachesLastJob({ taskId, traceId, progress }: Task): Promise<boolean> {
  const kind = progress.unfinished;
  if (!kind || kind === progress.lastJob) return kind !== undefined;
  const report = await findEnd({ taskId, kind, traceId });
  if (report?.status !== 'succeeded') return false;
  progress.ended(report);
  // So that stopJob cancels the last job if it has not made the video.
  progress.begun(progress.lastJob);
  return true;
}

/**
 * Stores the results of a success. Then stores the final object and settles the money, in one
 * transaction. If the row already has a final object, nothing changes and that object is returned.
 */
async function finish(task: Task, ending: Ending): Promise<ClosedTask> {
  const { taskId, plan, progress } = task;
  const kept = ending.succeeded ? await store(task) : undefined;
  const stored = kept?.stored ? kept : undefined;
  // Nobody pays for a video that cannot be fetched.
  const settled = ending.succeeded && !stored ? notStored() : ending;
  const nowSeconds = Math.floor(Date.now() / 1000);
  const final = finalObject(identityOf(task), { ...workOf(task), stored }, settled, nowSeconds);
  const closed = await closeTask({ taskId, ...final, heldMicros: plan.hold.amountMicros });
  progress.closed(closed.object);
  return closed;
}

// The copy of a video is tried until the deadline of the task, but at least for this long.
const storedWithinSecondsMin = 600;

/** Copies the results into the storage. A failed copy is repeated without another job. */
async function store(task: Task): Promise<StoredResults> {
  const { taskId, traceId } = task;
  const leftSeconds = Math.ceil(remainingMs(task) / 1_000);
  const triedForSeconds = Math.max(storedWithinSecondsMin, leftSeconds);
  const sources = resultSources({ ...workOf(task), stored: undefined });
  return storeResults({ taskId, traceId, sources, triedForSeconds });
}

/**
 * Sends the callback, if the task has one. If the first attempt fails, a workflow of its own makes the
 * others, because the delivery may take days. If this workflow has not ended the task, that delivery
 * may be running already.
 */
async function announce(taskId: string, { hasCallback, first }: ClosedTask): Promise<void> {
  if (!hasCallback || (first && (await firstAttempt(taskId)))) return;
  try {
    await startChild(workflowNames.deliverCallback, {
      workflowId: callbackWorkflowId(taskId),
      args: [{ taskId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: 'callback',
    });
  } catch (error) {
    // Untested: another process has just started the same workflow.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Returns true if no other attempt follows: the callback is delivered, or stopped. */
async function firstAttempt(taskId: string): Promise<boolean> {
  const { attemptCallback } = callbackActivities(firstCallbackPolicy);
  const attempt = { taskId, delivery: 1, attempt: 1, chance: Math.random() };
  try {
    return (await attemptCallback(attempt)).nextInMs === null;
  } catch {
    return false; // The attempt was not made within its time.
  }
}

/**
 * Cancels the job of a failed task, because the job may still run upstream. The customer already
 * has the refund (docs/decisions.md, 8). If this cancel fails, a worker repeats it, because the row of
 * the job owes it (activities/owed/cancel-jobs.ts).
 */
async function stopJob(task: Task, { status }: TaskObject): Promise<void> {
  const kind = task.progress.unfinished;
  if (status === 'succeeded' || !kind) return;
  await cancelJob(jobInput(task, kind)).catch(() => undefined);
}

function identityOf({ taskId, traceId, plan, createdAtMs, labels }: TaskInput): LiveTask {
  const createdAt = Math.floor(createdAtMs / 1000);
  return { id: taskId, traceId, model: plan.model, createdAt, labels, plan };
}

function workOf({ plan, progress }: Task): Omit<Work, 'stored'> {
  const generation = progress.endOf('generation');
  return { plan, generation, enhanced: progress.endOf('super_resolution') };
}

function jobInput({ taskId, accountId, plan, traceId }: Task, kind: JobKind): JobInput {
  return { taskId, accountId, kind, plan, traceId };
}

function remainingMs({ deadlineAtMs }: TaskInput): number {
  return Math.max(0, deadlineAtMs - Date.now());
}

function isFailure({ status }: JobReport): boolean {
  return status !== 'succeeded';
}
