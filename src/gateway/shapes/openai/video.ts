// A task in the form of OpenAI: the object `video`, with four states.

import type { TaskObject } from '../../../contract/task';
import type { TaskStatus } from '../../../contract/vocabulary';
import { outputSize } from '../../../planning/output-size.rules';
import type { AskedTask } from '../../../tasks/find-task';
import { isCancelled } from '../../../tasks/task.rules';

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

export function videoOf({ task, asked }: AskedTask) {
  const [video] = task.data;
  const { durationSeconds, enhancement = null, ...frame } = asked.plan;
  const planned = outputSize({ width: null, height: null, ...frame, enhancement });
  const width = video?.width ?? planned?.width;
  const height = video?.height ?? planned?.height;
  const seconds = task.duration ?? durationSeconds ?? -1;
  const { error } = task;
  const code = isCancelled(error) ? 'cancelled' : error?.code;
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: states[task.status],
    progress: progressOf(task),
    created_at: task.created_at,
    completed_at: task.finished_at ?? null,
    expires_at: video?.expires_at ?? null,
    error: error ? { code, message: error.message } : null,
    prompt: asked.prompt || null,
    remixed_from_video_id: null,
    seconds: seconds < 0 ? null : String(seconds),
    size: width && height ? `${width}x${height}` : null,
  };
}
