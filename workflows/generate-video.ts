// The life of one task: admit, generate, enhance, store, settle, announce. The state on the way is in
// task-state.ts, the endings are in endings.ts. Every effect is an activity, every calculation a
// pure function of src/domain.

import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, createFileActivities } from '../activities';
import type { TaskObject } from '../src/contract/task';
import type { JobKind, JobReport } from '../src/domain/job';
import { isFinal } from '../src/domain/task';
import type { TaskInput } from '../src/domain/task-transactions';
import { announce, storeTheRest } from './children';
import type { Ending } from './endings';
import { cancelled, expired, failedUpstream, finalObject } from './endings';
import { refusedFailure } from './messages';
import {
  cancelPolicy,
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
  // Only the work can be cancelled. Storing, settlement and callback happen in any case.
  const working = new CancellationScope();

  return CancellationScope.nonCancellable(async () => {
    if (!(await admit(task))) return leave(task);

    const ending = await untilDeadline(task, working, async () => {
      const video = await runJob(task, 'generation');
      const isEnhanced = task.plan.enhancement && !isFailure(video);
      return isEnhanced ? runJob(task, 'super_resolution') : video;
    });

    if (ending.succeeded) await store(task);
    const final = await settle(task, ending);
    await Promise.all([announce(task), abandonJobs(task, final), storeTheRest(task, final)]);
    await condition(allHandlersFinished);
    return final;
  });
}

/**
 * Opens the pending task: status and hold in one transaction. False if the task was refused or has
 * ended before.
 */
async function admit(task: TaskState): Promise<boolean> {
  const opened = await openTask(task.opening());
  if (opened.outcome === 'refused') {
    task.refused(opened.refusal);
    return false;
  }
  task.admitted(opened.outcome === 'exists' ? opened.object : task.object());
  return !isFinal(task.object().status);
}

/**
 * Ends a workflow whose task was not opened. A refused task has no row any more, and its failed
 * workflow frees the id (docs/decisions.md, 2). For a task that ended before, the callback is
 * started here, in case it was not yet.
 */
async function leave(task: TaskState): Promise<TaskObject> {
  await condition(allHandlersFinished);
  const { refusal } = task;
  if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusedFailure, refusal);
  await announce(task);
  return task.object();
}

/**
 * Runs the work until the task's deadline. The deadline and a cancellation both end it here
 * (docs/decisions.md, 9).
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
    return isFailure(report) ? failedUpstream(report) : { succeeded: true };
  } catch (error) {
    if (!isCancellation(error)) throw error; // Untested: only a defect leads here.
    return timeIsUp ? lastCheck(task) : cancelled();
  } finally {
    working.cancel(); // Cancels the timer of the deadline.
  }
}

/**
 * Has one of the plan's channels do the job, waiting for a free slot if all are full. Returns the
 * final report.
 */
async function runJob(task: TaskState, kind: JobKind): Promise<JobReport> {
  for (;;) {
    task.submitting(kind);
    const { submitJob } = proxyActivities<Activities>(jobPolicy(task.remainingMs()));
    const job = await submitJob(task.jobInput(kind));
    if (job.outcome === 'rejected') return job.report;
    if (job.outcome === 'ended') {
      task.take(job.report);
      return job.report;
    }
    task.waiting();
    await condition(() => task.jobs.takeTurn(kind));
  }
}

/**
 * Reads the last job once more at the deadline, because it may have ended since the watcher last
 * polled it.
 */
async function lastCheck(task: TaskState): Promise<Ending> {
  const kind = task.plan.enhancement ? 'super_resolution' : 'generation';
  if (!task.jobs.mayBeOpen(kind)) return expired(task);
  try {
    const report = await readJob({ taskId: task.id, kind });
    if (report?.status !== 'succeeded') return expired(task);
    task.take(report);
    return { succeeded: true };
  } catch {
    return expired(task); // A provider that does not answer cannot delay the deadline.
  }
}

/**
 * Has the results copied into the storage. The generation has succeeded, so nothing that happens
 * here fails the task or repeats the work.
 */
async function store(task: TaskState): Promise<void> {
  const sources = task.resultSources();
  if (sources.length === 0) return;
  const taskQueue = `${workflowInfo().taskQueue}-files`;
  const { storeResults } = proxyActivities<FileActivities>({ ...storePolicy, taskQueue });
  task.stored = await storeResults(task.storing(sources));
}

/**
 * Stores the final object and settles the money in one transaction. The first final state that is
 * stored counts.
 */
async function settle(task: TaskState, ending: Ending): Promise<TaskObject> {
  const heldMicros = task.plan.hold.amountMicros;
  const { id: taskId, createdAtMs } = task;
  const closed = await closeTask({
    taskId,
    ...finalObject(task, ending),
    heldMicros,
    createdAtMs,
  });
  task.closed(closed.object);
  return closed.object;
}

/**
 * Cancels the job that still runs upstream for a failed task. The customer has the refund by then
 * (docs/decisions.md, 8). If no cancel succeeds, the reconciler repeats it
 * (activities/reconcile/left-jobs.ts).
 */
async function abandonJobs(task: TaskState, final: TaskObject): Promise<void> {
  if (final.status === 'succeeded') return;
  const kind = task.jobs.unfinished();
  if (!kind) return;
  await cancelJob(task.jobInput(kind)).catch(() => undefined);
}

function isFailure(report: JobReport): boolean {
  return report.status !== 'succeeded';
}
