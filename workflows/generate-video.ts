// The workflow of one task: admit, generate, enhance, store, settle, announce. The state of the
// workflow is in task-state.ts, and the endings are in src/tasks/ending.rules.ts. Only activities use the
// database, the providers and the storage. Calculations are pure functions, most of them in
// rules of src.

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
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, createFileActivities } from '../activities';
import type { TaskObject } from '../src/contract/task';
import type { JobKind, JobReport } from '../src/jobs/job.rules';
import {
  cancelled,
  type Ending,
  expired,
  failedUpstream,
  finalObject,
  notStored,
} from '../src/tasks/ending.rules';
import type { TaskInput } from '../src/tasks/task-transactions.rules';
import { callbackActivities } from './deliver-callback';
import { callbackWorkflowId, queuesOf, workflowNames } from './messages';
import {
  cancelPolicy,
  firstCallbackPolicy,
  jobPolicy,
  lastCheckPolicy,
  storePolicy,
  transactionPolicy,
} from './policies';
import type { TaskState } from './task-state';
import { startTaskState } from './task-state';

type FileActivities = ReturnType<typeof createFileActivities>;

const { openTask, closeTask } = proxyLocalActivities<Activities>(transactionPolicy);
const { readJob } = proxyActivities<Activities>(lastCheckPolicy);
const { cancelJob } = proxyActivities<Activities>(cancelPolicy);

export async function generateVideo(input: TaskInput): Promise<TaskObject> {
  const task = startTaskState(input);
  // A cancel of the workflow stops only the jobs: this scope is the only one that it reaches. A cancel
  // never interrupts storing, settlement or the callback.
  const working = new CancellationScope();

  return CancellationScope.nonCancellable(async () => {
    // A task that was not admitted has ended, perhaps before its workflow began.
    const final = (await admit(task)) ?? (await work(task, working));
    await Promise.all([announce(task), stopJob(task, final)]);
    await condition(allHandlersFinished);
    return final;
  });
}

/**
 * Opens the pending task and holds its money, in one transaction. Returns the final object if the
 * task was refused or had already ended; otherwise null.
 */
async function admit(task: TaskState): Promise<TaskObject | null> {
  const opened = await openTask(task.input);
  const known = opened.outcome === 'opened' ? null : opened.object;
  if (opened.outcome !== 'opened') task.hasCallback = opened.hasCallback;
  task.endedTask = opened.outcome === 'refused';
  task.admitted(known);
  return known;
}

/** Makes the video, and ends the task. */
async function work(task: TaskState, working: CancellationScope): Promise<TaskObject> {
  const ending = await untilDeadline(task, working, async () => {
    const video = await untilJobEnds(task, 'generation');
    const isEnhanced = task.plan.enhancement && !isFailure(video);
    return isEnhanced ? untilJobEnds(task, 'super_resolution') : video;
  });
  return finish(task, ending);
}

/**
 * Runs the work and returns the ending of the task (docs/decisions.md, 9). The work is stopped if
 * the deadline passes or the task is cancelled.
 */
async function untilDeadline(
  task: TaskState,
  working: CancellationScope,
  work: () => Promise<JobReport>,
): Promise<Ending> {
  let timeIsUp = false;
  const expire = () => {
    timeIsUp = true;
    working.cancel();
  };
  try {
    const report = await working.run(() => {
      const deadline = sleep(task.remainingMs(), { summary: 'the task’s deadline' });
      deadline.then(expire, () => undefined);
      return work();
    });
    return isFailure(report) ? failedUpstream(report, task.plan) : { succeeded: true };
  } catch (error) {
    if (!isCancellation(error)) throw error; // Untested: only a defect leads here.
    return timeIsUp ? lastCheck(task) : cancelled();
  } finally {
    working.cancel(); // Cancels the timer of the deadline.
  }
}

/**
 * Places the job at one of the plan's channels and returns the final report. If all channels are
 * full, the job first waits for a free slot.
 *
 * The activity `runJob` ends when the job has ended, which may take days, but no worker runs it for
 * so long. Once a channel has accepted the job, the activity throws `CompleteAsyncError`: it stays
 * open at Temporal, and the worker is free. The watcher of the channel polls the job and completes
 * the activity by its id, which is the kind of the job (activities/jobs/notify-tasks.ts).
 */
async function untilJobEnds(task: TaskState, kind: JobKind): Promise<JobReport> {
  for (;;) {
    task.submitting(kind);
    // Longer than the remaining time, so that the deadline timer ends the activity first.
    const startToCloseTimeout = task.remainingMs() + 60_000;
    const policy = { ...jobPolicy, startToCloseTimeout, activityId: kind };
    const { runJob } = proxyActivities<Activities>(policy);
    const job = await runJob(task.jobInput(kind));
    if (job.outcome === 'waiting') {
      task.waiting();
      await condition(() => task.jobs.takeTurn(kind));
      continue;
    }
    return job.outcome === 'ended' ? ended(task, job.report) : job.report;
  }
}

function ended(task: TaskState, report: JobReport): JobReport {
  task.take(report);
  return report;
}

/**
 * Reads the last job of the plan once more at the deadline. The job may have ended after the watcher's
 * last poll.
 */
async function lastCheck(task: TaskState): Promise<Ending> {
  const kind = task.plan.enhancement ? 'super_resolution' : 'generation';
  if (task.jobs.unfinished() !== kind) return expired(task.plan);
  try {
    const report = await readJob({ taskId: task.id, kind, traceId: task.identity.traceId });
    if (report?.status !== 'succeeded') return expired(task.plan);
    ended(task, report);
    return { succeeded: true };
  } catch {
    return expired(task.plan); // Three reads failed, or no read was answered within 20 s.
  }
}

/**
 * Copies the results into the storage. A failed copy is repeated without another job. The task
 * succeeds only if all results are stored: nobody pays for a video that cannot be fetched.
 */
async function store(task: TaskState): Promise<Ending> {
  const taskQueue = queuesOf(workflowInfo().taskQueue).files;
  const { storeResults } = proxyActivities<FileActivities>({ ...storePolicy, taskQueue });
  const stored = await storeResults(task.storing());
  if (!stored.stored) return notStored();
  task.stored = stored;
  return { succeeded: true };
}

/**
 * Stores the results. Then stores the final object and settles the money, in one transaction. If
 * the row already has a final object, nothing changes and that object is returned.
 */
async function finish(task: TaskState, ending: Ending): Promise<TaskObject> {
  const { id: taskId, plan, identity } = task;
  const heldMicros = plan.hold.amountMicros;
  const stored = ending.succeeded ? await store(task) : ending;
  const final = finalObject(identity, task.work(), stored, task.nowSeconds());
  const closed = await closeTask({ taskId, ...final, heldMicros });
  task.hasCallback = closed.hasCallback;
  task.endedTask = closed.first;
  task.closed(closed.object);
  return closed.object;
}

/**
 * Sends the callback, if the task has one. If the first attempt fails, a workflow of its own makes the
 * others, because the delivery may take days. If this workflow has not ended the task, that delivery
 * may be running already.
 */
async function announce({ id: taskId, hasCallback, endedTask }: TaskState): Promise<void> {
  if (!hasCallback || (endedTask && (await firstAttempt(taskId)))) return;
  try {
    await startChild(workflowNames.deliverCallback, {
      workflowId: callbackWorkflowId(taskId),
      args: [{ taskId }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: 'callback',
    });
  } catch (error) {
    // Untested: another process has just started the same workflow, for example the reconciler.
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
 * has the refund (docs/decisions.md, 8). If this cancel fails, a worker repeats it
 * (activities/owed/cancel-jobs.ts).
 */
async function stopJob(task: TaskState, final: TaskObject): Promise<void> {
  if (final.status === 'succeeded') return;
  const kind = task.jobs.unfinished();
  if (!kind) return;
  await cancelJob(task.jobInput(kind)).catch(() => undefined);
}

function isFailure(report: JobReport): boolean {
  return report.status !== 'succeeded';
}
