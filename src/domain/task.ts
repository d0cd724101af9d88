// The life of a task and the one function that turns it into the object callers see. GET, the
// stored row and the callback all show what `taskObject` made, so they can never differ.
// docs/architecture.md has a glossary.

import type { Labels } from '../contract/request';
import type {
  Billing,
  CreatedTask,
  OutputUpload,
  TaskError,
  TaskObject,
  TokenUsage,
  VideoResult,
} from '../contract/task';
import type { GoneReason, Stage, TaskStatus } from '../contract/vocabulary';
import type { ResultRole } from './results';

/** The fields that never change during a task's life. */
export interface TaskIdentity {
  readonly id: string;
  readonly traceId: string;
  readonly model: string;
  readonly createdAt: number;
  readonly labels?: Labels;
}

/** The video of a task that succeeds. */
export type NewVideo = VideoResult & { readonly url: string };

/**
 * The state of a task. The union excludes a success without a video and a failure without a reason.
 */
type TaskState =
  | { readonly status: 'pending' | 'submitted'; readonly billing?: Billing }
  | { readonly status: 'running'; readonly stage: Stage; readonly billing?: Billing }
  | {
      readonly status: 'succeeded';
      readonly finishedAt: number;
      readonly video: NewVideo;
      readonly durationSeconds: number | null;
      readonly seed: number | null;
      readonly usage: TokenUsage;
      readonly billing: Billing;
      readonly outputUpload?: OutputUpload;
    }
  | {
      readonly status: 'failed';
      readonly finishedAt: number;
      readonly error: TaskError;
      readonly billing?: Billing;
    };

export function taskObject(task: TaskIdentity, state: TaskState): TaskObject {
  const common = {
    id: task.id,
    task_id: task.id,
    object: 'video.generation.task' as const,
    status: state.status,
    message: messageOf(state),
    trace_id: task.traceId,
    model: task.model,
    created_at: task.createdAt,
    ...(task.labels ? { labels: task.labels } : {}),
    ...(state.billing ? { billing: state.billing } : {}),
  };
  switch (state.status) {
    case 'pending':
    case 'submitted':
      return { ...common, data: [] };
    case 'running':
      return { ...common, data: [], stage: state.stage };
    case 'succeeded':
      return {
        ...common,
        data: [state.video],
        video_url: state.video.url,
        ...(state.durationSeconds === null ? {} : { duration: state.durationSeconds }),
        usage: state.usage,
        ...(state.seed === null ? {} : { seed: state.seed }),
        finished_at: state.finishedAt,
        ...(state.outputUpload ? { output_upload: state.outputUpload } : {}),
      };
    case 'failed': {
      const { message, code } = state.error;
      return { ...common, data: [], error: { message, code }, finished_at: state.finishedAt };
    }
  }
}

/**
 * The object of a task after one of its jobs has begun; constant fields are taken from the previous
 * object.
 */
export function runningObject(task: TaskObject, stage: Stage): TaskObject {
  const { billing } = task;
  const state = { status: 'running' as const, stage, ...(billing ? { billing } : {}) };
  return taskObject(identityIn(task), state);
}

/**
 * The object of a task that ends without its workflow. A pending task has no bill, because nothing
 * was held.
 */
export function failedObject(
  task: TaskObject,
  message: string,
  finishedAt: number,
  billing?: Billing,
): TaskObject {
  const error = { code: 'task_error', message } as const;
  const state = { status: 'failed' as const, finishedAt, error, ...(billing ? { billing } : {}) };
  return taskObject(identityIn(task), state);
}

/** The object of a finished task after these of its results were removed, for one reason. */
export function withoutResults(
  task: TaskObject,
  roles: readonly ResultRole[],
  reason: GoneReason,
): TaskObject {
  const [video] = task.data;
  if (!video) return task;
  const { url, last_frame_url: frame, expires_at: expiresAt, ...rest } = video;
  const { video_url: videoUrl, ...others } = task;
  const keepsVideo = url !== undefined && !roles.includes('video');
  const keepsFrame = frame !== undefined && !roles.includes('last_frame');
  return {
    ...others,
    data: [
      {
        ...(keepsVideo ? { url } : { url_gone_reason: reason }),
        ...(keepsFrame ? { last_frame_url: frame } : {}),
        ...(frame !== undefined && !keepsFrame ? { last_frame_url_gone_reason: reason } : {}),
        ...rest,
        ...(expiresAt !== undefined && (keepsVideo || keepsFrame) ? { expires_at: expiresAt } : {}),
      },
    ],
    ...(keepsVideo && videoUrl !== undefined ? { video_url: videoUrl } : {}),
  };
}

export const erasedMessage = 'The content of this task was erased.';

/** The object of a finished task without the texts and results of its caller. */
export function erasedObject(task: TaskObject): TaskObject {
  const { id, task_id, object, status, trace_id, model, created_at, billing } = task;
  const { duration, usage, error, finished_at } = task;
  const message = erasedMessage;
  return {
    ...{ id, task_id, object, status, message, trace_id, model, created_at },
    ...(billing ? { billing } : {}),
    data: withoutResults(task, ['video', 'last_frame'], 'removed_by_operator').data,
    ...(duration === undefined ? {} : { duration }),
    ...(usage ? { usage } : {}),
    ...(error ? { error: { message, code: error.code } } : {}),
    ...(finished_at === undefined ? {} : { finished_at }),
  };
}

/** The fields of an object that never change. */
function identityIn(task: TaskObject): TaskIdentity {
  const { id, trace_id: traceId, model, created_at: createdAt, labels } = task;
  return { id, traceId, model, createdAt, ...(labels ? { labels } : {}) };
}

/** The five fields a create answers with. */
export function createdTask(task: TaskObject): CreatedTask {
  const { id, task_id, object, status, message } = task;
  return { id, task_id, object, status, message };
}

/** The sentences of `message`. A failed task shows its own reason instead. */
const statusMessages = {
  pending: 'Task accepted, waiting for confirmation.',
  submitted: 'Task submitted.',
  generation: 'Video generation in progress.',
  super_resolution: 'Super-resolution in progress.',
  storing: 'The video is being stored.',
  succeeded: 'Video generation succeeded.',
} as const;

export const cancelledMessage = 'The task was cancelled by the caller.';
export const stoppedMessage = 'The task was stopped by the service.';

/** The error of a task that ran out of time, ended by its workflow or by the reconciler. */
export function expiredMessage(afterSeconds: number): string {
  return `The task expired after ${afterSeconds} seconds.`;
}

function messageOf(state: TaskState): string {
  if (state.status === 'failed') return state.error.message;
  return statusMessages[state.status === 'running' ? state.stage : state.status];
}

export function isFinal(status: TaskStatus): status is 'succeeded' | 'failed' {
  return status === 'succeeded' || status === 'failed';
}

const runningSteps: Readonly<Record<Stage, number>> = {
  generation: 2,
  super_resolution: 3,
  storing: 5,
};

/**
 * How far a task has come, stored as the row's version. Of two answers the one with the higher step
 * is newer. The numbers are recorded in rows: add between them, never change one.
 */
export function stepOf(task: Pick<TaskObject, 'status' | 'stage'>): number {
  switch (task.status) {
    case 'pending':
      return 0;
    case 'submitted':
      return 1;
    case 'running':
      return runningSteps[task.stage ?? 'generation'];
    case 'succeeded':
    case 'failed':
      return 9;
  }
}
