// The life of a task and the one function that turns it into the object callers see. GET, the
// stored row and the callback all show what `taskObject` made, so poller, consumer and SRE can
// never see different things.
//
// Glossary. *Hold*: the amount set aside at submission (the document's pre-deduction). *Settle*:
// turn the hold into a charge once the tokens are known. *Refund*: give the unused part back.
// *Stage*: which of the two steps a running task is in. *Step*: how far a task has come, as a
// number that only grows.

import type {
  Billing,
  CreatedTask,
  TaskError,
  TaskObject,
  TokenUsage,
  VideoResult,
} from '../contract/task';
import type { Stage, TaskStatus } from '../contract/vocabulary';

/** What stays the same over a task's whole life. */
export interface TaskIdentity {
  readonly id: string;
  readonly traceId: string;
  readonly model: string;
  readonly createdAt: number;
}

/**
 * Where it stands. The union leaves no room for a success without a video or a failure without a
 * reason.
 */
type TaskState =
  | { readonly status: 'pending' | 'submitted'; readonly billing?: Billing }
  | { readonly status: 'running'; readonly stage: Stage; readonly billing?: Billing }
  | {
      readonly status: 'succeeded';
      readonly finishedAt: number;
      readonly video: VideoResult;
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
    case 'failed':
      return { ...common, data: [], error: state.error, finished_at: state.finishedAt };
  }
}

/** The five fields a create answers with. */
export function createdTask(task: TaskObject): CreatedTask {
  const { id, task_id, object, status, message } = task;
  return { id, task_id, object, status, message };
}

/** The sentences of `message`, in one place; `failed` shows its own reason. */
export const statusMessages = {
  pending: 'Task accepted, waiting for confirmation.',
  submitted: 'Task submitted.',
  generation: 'Video generation in progress.',
  super_resolution: 'Super-resolution in progress.',
  succeeded: 'Video generation succeeded.',
} as const;

/** Why a task failed that ran out of time, whoever ends it: its workflow or the sweep. */
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

/**
 * How far a task has come. Stored as the row's version; of two answers the one with the higher step
 * is the newer. The numbers are recorded in rows: add between, never change.
 */
export function stepOf(task: { readonly status: TaskStatus; readonly stage?: Stage }): number {
  switch (task.status) {
    case 'pending':
      return 0;
    case 'submitted':
      return 1;
    case 'running':
      return task.stage === 'super_resolution' ? 3 : 2;
    case 'succeeded':
    case 'failed':
      return 9;
  }
}
