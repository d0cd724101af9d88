// The life of one task: admit, generate, enhance, settle, announce. Everything else (what is
// remembered on the way, how it is shown, what a failure is called) is in task-record.ts and
// endings.ts beside this file; every outside effect is an activity, every sum a pure function in
// src/domain.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
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
import { isFinal } from '../src/domain/task';
import type { Ending } from './endings';
import { cancelled, expired, failedUpstream, finalObject, refusedObject } from './endings';
import type { JobKind, JobOrder, JobReport, PlacedJob, TaskInput } from './messages';
import { callbackWorkflowId, refusedFailure, workflowNames } from './messages';
import {
  cancelPolicy,
  doorPolicy,
  jobPolicy,
  lastLookPolicy,
  submitPolicyOfBefore,
} from './policies';
import type { TaskRecord } from './task-record';
import { recordTask } from './task-record';

type Ended = Extract<PlacedJob, { outcome: 'ended' }>;

const { openTask, closeTask, keepRefusedTask } = proxyLocalActivities<Activities>(doorPolicy);
const submitOfBefore = proxyActivities<Activities>(submitPolicyOfBefore);
const { readJob } = proxyActivities<Activities>(lastLookPolicy);
const { cancelJob } = proxyActivities<Activities>(cancelPolicy);

export async function generateVideo(input: TaskInput): Promise<TaskObject> {
  const task = recordTask(input);
  // Only the work can be cancelled; what is owed to the caller and to the books happens in any
  // case.
  const working = new CancellationScope();

  return CancellationScope.nonCancellable(async () => {
    if (!(await admit(task))) return leave(task);

    const ending = await untilDeadline(task, working, async () => {
      const video = await generate(task);
      return task.plan.enhancement && !isFailure(video) ? enhance(task, video) : video;
    });

    const final = await settle(task, ending);
    await Promise.all([announce(task), abandonJobs(task, final)]);
    await condition(allHandlersFinished);
    return final;
  });
}

/**
 * Row and hold in one transaction. False when the task was refused: nothing is held and nothing
 * will be done.
 */
async function admit(task: TaskRecord): Promise<boolean> {
  if (task.remainingMs() <= 0) {
    task.keptAs(await keepRefusedTask(task.opening(refusedObject(task, expired(task)))));
    return false;
  }
  const opened = await openTask(task.opening(task.object()));
  if (opened.outcome === 'refused') {
    task.refused(opened.refusal);
    return false;
  }
  if (opened.outcome === 'exists') task.metAgain(opened);
  else task.admitted();
  return !isFinal(task.object().status);
}

/**
 * The end of a task that never began. The caller who still waits hears the refusal, and the failed
 * workflow leaves the id free for another try. A caller who was told `pending` has the id already,
 * so a failed row is kept for it (docs/decisions.md, 2). A row that was final before us may be the
 * work of a worker that died before it could announce it.
 */
async function leave(task: TaskRecord): Promise<TaskObject> {
  await condition(allHandlersFinished);
  if (task.refusal && task.toldPending) {
    task.keptAs(await keepRefusedTask(task.opening(refusedObject(task, task.refusal))));
  }
  if (task.refusal && !task.kept) {
    throw ApplicationFailure.nonRetryable(task.refusal.message, refusedFailure, task.refusal);
  }
  await announce(task);
  return task.object();
}

/**
 * Runs the work inside the task's deadline; running out of time and being cancelled both end it
 * here (docs/decisions.md, 9).
 */
async function untilDeadline(
  task: TaskRecord,
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
    if (!isCancellation(error)) throw error;
    return timeIsUp ? lastLook(task) : cancelled();
  } finally {
    working.cancel(); // The timer, that is: the work is over.
  }
}

/** The generation; a task sleeps here until the video is made. */
function generate(task: TaskRecord): Promise<JobReport> {
  return runJob(task, 'generation', null);
}

/**
 * Chains super-resolution to a finished generation; the task id and its status stay what they are.
 */
function enhance(task: TaskRecord, video: JobReport): Promise<JobReport> {
  return runJob(task, 'super_resolution', video.result?.videoUrl ?? null);
}

/**
 * Has one of its channels do a job, waiting for a free place where a channel has a limit. Answers
 * how it ended.
 */
async function runJob(
  task: TaskRecord,
  kind: JobKind,
  videoUrl: string | null,
): Promise<JobReport> {
  for (;;) {
    task.submitting(kind);
    const job = await submit(task, task.order(kind, videoUrl));
    if (job.outcome === 'ended') task.take(job.report);
    if (job.outcome === 'ended' || job.outcome === 'rejected') return job.report;
    if (job.outcome === 'accepted') {
      task.accepted(kind, job);
      return (await finalSignal(task, kind)).report;
    }
    task.waiting();
    await condition(() => task.jobs.takeTurn(kind));
  }
}

function submit(task: TaskRecord, order: JobOrder): Promise<PlacedJob> {
  if (task.jobs.isOfBefore) return submitOfBefore.submitJob(order);
  const { submitJob } = proxyActivities<Activities>(jobPolicy(task.remainingMs()));
  // A watcher of an older build signals the end of the job instead of ending the activity.
  return Promise.race([submitJob(order), finalSignal(task, order.kind)]);
}

async function finalSignal(task: TaskRecord, kind: JobKind): Promise<Ended> {
  await condition(() => task.jobs.finalReport(kind) !== undefined);
  return { outcome: 'ended', report: task.jobs.finalReport(kind) as JobReport };
}

/** Time is up, but the last job may have ended since it was last asked about. */
async function lastLook(task: TaskRecord): Promise<Ending> {
  const kind = task.plan.enhancement ? 'super_resolution' : 'generation';
  if (!task.jobs.mayBeOpen(kind)) return expired(task);
  try {
    const report = await readJob({ taskId: task.id, kind });
    if (report?.status !== 'succeeded') return expired(task);
    task.take(report);
    return { succeeded: true };
  } catch {
    return expired(task); // A service that does not answer cannot hold up a deadline.
  }
}

/**
 * The final object and its money in one transaction. Whichever final state was stored first is the
 * task's.
 */
async function settle(task: TaskRecord, ending: Ending): Promise<TaskObject> {
  const { object: withdrawn } = finalObject(task, cancelled());
  const heldMicros = task.plan.hold.amountMicros;
  const { id: taskId, createdAtMs, nonce } = task;
  const final = finalObject(task, ending);
  const closed = await closeTask({ taskId, ...final, heldMicros, createdAtMs, nonce, withdrawn });
  task.closed(closed.object);
  return closed.object;
}

/** The callback has a life of its own: it may take days and must not keep the task open. */
async function announce(task: TaskRecord): Promise<void> {
  const url = task.request.metadata.callback_url;
  if (!url) return;
  try {
    await startChild(workflowNames.deliverCallback, {
      workflowId: callbackWorkflowId(task.id),
      args: [{ taskId: task.id }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: 'callback',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/**
 * What still runs upstream for a task that has ended is asked to stop, after the customer has the
 * money back (docs/decisions.md, 8).
 */
async function abandonJobs(task: TaskRecord, final: TaskObject): Promise<void> {
  if (final.status === 'succeeded') return;
  const kind = task.jobs.unfinished();
  if (!kind) return;
  try {
    await cancelJob(task.order(kind, null));
  } catch {
    // Given up after the policy's limit; the activity has logged and counted it.
  }
}

function isFailure(report: JobReport): boolean {
  return report.status !== 'succeeded';
}
