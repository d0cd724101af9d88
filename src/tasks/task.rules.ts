// The states of a task, and the only function that turns a state into the object that callers see.
// GET, the row and the callback all show this object, so they cannot contradict each other.
// docs/architecture.md has a glossary.

import type { Labels } from '../contract/request';
import type {
  Billing,
  CreatedTask,
  TaskError,
  TaskObject,
  TokenUsage,
  VideoResult,
} from '../contract/task';
import type { GoneReason, Stage, TaskStatus } from '../contract/vocabulary';
import type { ResultRole } from '../files/results.rules';
import type { Plan } from '../planning/plan-types.rules';
import { billing } from '../planning/pricing.rules';

/** The fields that never change during the life of a task. */
export interface TaskIdentity {
  readonly id: string;
  readonly traceId: string;
  readonly model: string;
  readonly createdAt: number;
  readonly labels?: Labels | null;
}

/** The fields from which the object of a live task is derived, together with its stage. */
export interface LiveTask extends TaskIdentity {
  readonly plan: Plan;
  /** True if the create answered `pending`. Reads show it until the task is opened. */
  readonly toldPending?: boolean;
}

/** The video of a task that has just succeeded. No result was removed yet, so the link exists. */
export type NewVideo = VideoResult & { readonly url: string };

/**
 * The state of a task. The type allows no success without a video and no failure without a reason.
 */
type ShownState =
  | { readonly status: 'pending'; readonly billing?: undefined }
  /** No bill until the amount is held. */
  | { readonly status: 'submitted'; readonly billing?: Billing }
  | { readonly status: 'running'; readonly stage: Stage; readonly billing: Billing }
  | {
      readonly status: 'succeeded';
      readonly finishedAt: number;
      readonly video: NewVideo;
      readonly durationSeconds: number | null;
      readonly seed: number | null;
      readonly usage: TokenUsage;
      readonly billing: Billing;
    }
  | {
      readonly status: 'failed';
      readonly finishedAt: number;
      readonly error: TaskError;
      readonly billing?: Billing;
    };

export function taskObject(task: TaskIdentity, state: ShownState): TaskObject {
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
      };
    case 'failed': {
      const { message, code } = state.error;
      return { ...common, data: [], error: { message, code }, finished_at: state.finishedAt };
    }
  }
}

/**
 * The stages of a live task, in their order. A task is `accepted` until its workflow opens it, and
 * `opened` until its first job runs. It is `super_resolution` once its generation has succeeded, and
 * `storing` once its video is made.
 */
const liveStages = ['accepted', 'opened', 'generation', 'super_resolution', 'storing'] as const;
export type LiveStage = (typeof liveStages)[number];

export function isLater(one: LiveStage, other: LiveStage): boolean {
  return liveStages.indexOf(one) > liveStages.indexOf(other);
}

/** The object of a live task. `message` replaces the message that belongs to its stage. */
export function liveObject(task: LiveTask, stage: LiveStage, message?: string): TaskObject {
  const object = taskObject(task, liveState(task, stage));
  return message === undefined ? object : { ...object, message };
}

function liveState({ plan, toldPending }: LiveTask, stage: LiveStage): ShownState {
  if (stage === 'accepted') return { status: toldPending ? 'pending' : 'submitted' };
  const bill = billing(plan, { lines: [], final: false });
  return stage === 'opened'
    ? { status: 'submitted', billing: bill }
    : { status: 'running', stage, billing: bill };
}

/**
 * The object of a task that ends without its workflow. A pending task has no bill, because no
 * amount was held.
 */
export function failedObject(
  task: TaskIdentity,
  message: string,
  finishedAt: number,
  bill?: Billing,
): TaskObject {
  const error = { code: 'task_error', message } as const;
  const state = { status: 'failed' as const, finishedAt, error };
  return taskObject(task, bill ? { ...state, billing: bill } : state);
}

/**
 * The object of a finished task after the results with these roles were removed for this reason.
 */
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

/** The forms of other services have a status of their own for a cancelled task. */
export function isCancelled(error: TaskObject['error']): boolean {
  return error?.message === cancelledMessage;
}

/**
 * Stands in place of the hash of an erased request while the task has rows that may still be needed.
 * Once they are deleted too, the hash is empty (forget.rows.ts).
 */
export const erasedHash = 'erased';

export const hasRequest = (hash: string): boolean => hash !== '' && hash !== erasedHash;

const erasedMessage = 'The content of this task was erased.';

/** The object of a finished task without its caller's texts and without its results. */
export function erasedObject(task: TaskObject): TaskObject {
  const { id, task_id, object, status, trace_id, model, created_at, billing } = task;
  const { duration, usage, error, finished_at, timings } = task;
  const message = erasedMessage;
  return {
    ...{ id, task_id, object, status, message, trace_id, model, created_at },
    ...(billing ? { billing } : {}),
    data: withoutResults(task, ['video', 'last_frame'], 'removed_by_operator').data,
    ...(duration === undefined ? {} : { duration }),
    ...(usage ? { usage } : {}),
    ...(error ? { error: isCancelled(error) ? error : { message, code: error.code } } : {}),
    ...(finished_at === undefined ? {} : { finished_at }),
    ...(timings ? { timings } : {}),
  };
}

/** Returns the five fields of the answer to a create. */
export function createdTask(task: TaskObject): CreatedTask {
  const { id, task_id, object, status, message } = task;
  return { id, task_id, object, status, message };
}

/** The answer to a create whose task was stored just now. */
export function acceptedTask(id: string, status: 'pending' | 'submitted'): CreatedTask {
  const message = statusMessages[status];
  return { id, task_id: id, object: 'video.generation.task', status, message };
}

/** The values of `message`. A failed task shows the reason of its failure instead. */
const statusMessages = {
  pending: 'Task accepted, waiting to be started.',
  submitted: 'Task submitted.',
  generation: 'Video generation in progress.',
  super_resolution: 'Super-resolution in progress.',
  storing: 'The video is being stored.',
  succeeded: 'Video generation succeeded.',
} as const;

/** The message of a task whose job waits, because a channel is full and no other takes it. */
export const waitingMessage = 'The task waits for a free slot.';
export const cancelledMessage = 'The task was cancelled by the caller.';
export const stoppedMessage = 'The task was stopped by the service.';

/** The error message of a task that passed its deadline. */
export function expiredMessage(afterSeconds: number): string {
  return `The task expired after ${afterSeconds} seconds.`;
}

function messageOf(state: ShownState): string {
  if (state.status === 'failed') return state.error.message;
  return statusMessages[state.status === 'running' ? state.stage : state.status];
}

export function isFinal(status: TaskStatus): status is 'succeeded' | 'failed' {
  return status === 'succeeded' || status === 'failed';
}
