// A task in the form of OpenAI: the object `video`, with four states.

import type { TaskObject } from '../../../contract/task';
import type { TaskStatus } from '../../../contract/vocabulary';
import type { AskedTask } from '../../../db/asked-tasks';
import { outputSize } from '../../../domain/output-size';
import { cancelledMessage } from '../../../domain/task';

const states: Readonly<Record<TaskStatus, string>> = {
  pending: 'queued',
  submitted: 'queued',
  running: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
};

/** What a percentage can honestly say about a task: not begun, begun, copied, finished. */
function progressOf({ status, stage }: Pick<TaskObject, 'status' | 'stage'>): number {
  if (status === 'succeeded') return 100;
  if (status !== 'running') return 0;
  return stage === 'storing' ? 90 : 50;
}

type ShownTask = Pick<TaskObject, 'id' | 'status'> & Partial<TaskObject>;

/** `asked` has the fields of the create, which the task object does not repeat. */
export function videoOf(task: ShownTask, asked: AskedTask | undefined) {
  const video = task.data?.[0];
  const planned = asked ? outputSize(asked.plan) : null;
  const width = video?.width ?? planned?.width;
  const height = video?.height ?? planned?.height;
  const seconds = task.duration ?? asked?.plan.durationSeconds;
  const { error } = task;
  const code = error?.message === cancelledMessage ? 'cancelled' : error?.code;
  return {
    id: task.id,
    object: 'video',
    model: asked?.model ?? task.model,
    status: states[task.status],
    progress: progressOf(task),
    created_at: asked?.createdAt ?? task.created_at,
    completed_at: task.finished_at ?? null,
    expires_at: video?.expires_at ?? null,
    error: error ? { code, message: error.message } : null,
    prompt: asked?.prompt || null,
    remixed_from_video_id: null,
    seconds: seconds === undefined || seconds < 0 ? null : String(seconds),
    size: width && height ? `${width}x${height}` : null,
  };
}
