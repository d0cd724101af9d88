// DELETE of a task, which cancels it, and DELETE of its content.

import type { Refusal } from '../contract/error';
import type { TaskObject } from '../contract/task';
import { findResults } from '../files/results.rows';
import { resultRoles } from '../files/results.rules';
import { askerOf } from '../gateway/auth';
import { refuse, taskNotFound } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { unavailable } from '../gateway/errors';
import type { FindTask, Found } from './find-task';
import { failPending } from './pending.rows';
import { answerFound, type TaskHandler } from './read.http';
import { removeResults } from './remove-files.rows';
import { cancelledMessage, isCancelled, isFinal } from './task.rules';

/**
 * Confirms the cancellation in a separate field, because the shown status may still be the previous
 * one. If the task ended in another way, or its video is being stored, the cancellation came too late.
 */
function withCancel(found: Found): Found {
  if (found.live?.stage === 'storing') return found;
  const task = JSON.parse(found.text) as TaskObject;
  if (isFinal(task.status) && !isCancelled(task.error)) return found;
  return { ...found, text: JSON.stringify({ ...task, cancel_requested: true }) };
}

export function cancelTask({ temporal }: KeyedDeps, find: FindTask): TaskHandler {
  return async (ctx, taskId) => {
    ctx.state.taskId = taskId.slice(0, 64);
    const asker = askerOf(ctx);
    const before = await find(taskId, asker);
    if (!before) return refuse(ctx, taskNotFound);
    if (isFinal(before.status)) return refuse(ctx, alreadyFinished);
    // The video is made, so the cancellation comes too late.
    if (before.live?.stage === 'storing') return answerFound(ctx, before);
    const isCancelled =
      // A workflow that is started later finds the failed row and ends too.
      before.live?.stage === 'accepted' &&
      (await failPending(ctx.state.db, taskId, cancelledMessage)) !== null;
    const asked = isCancelled ? 'asked' : await temporal.cancel(taskId);
    if (asked === 'unavailable') return refuse(ctx, unavailable, { 'retry-after': '2' });
    const after = await find(taskId, asker);
    const shown = after ?? before;
    if (asked === 'gone') {
      // The task ended by itself between the two reads, so this call did not cancel it. Or Temporal
      // does not know the workflow of a live task: its data is lost, or it is another Temporal.
      if (isFinal(shown.status)) return refuse(ctx, alreadyFinished);
      return refuse(ctx, unavailable, { 'retry-after': '2' });
    }
    answerFound(ctx, withCancel(shown));
  };
}

/**
 * The rows are changed first, so that the links stop working at once. If the storage does not
 * answer, the caller gets a 503. The bytes are then deleted by a repeated call or by a
 * worker.
 */
export function deleteTaskContent({ storage }: KeyedDeps, find: FindTask): TaskHandler {
  return async (ctx, taskId) => {
    ctx.state.taskId = taskId.slice(0, 64);
    const { db } = ctx.state;
    const asker = askerOf(ctx);
    const before = await find(taskId, asker);
    if (!before) return refuse(ctx, taskNotFound);
    if (!isFinal(before.status)) return refuse(ctx, notFinished(taskId));
    await removeResults(db, taskId, 'caller', resultRoles);
    for (const { key } of await findResults(db, taskId)) await storage.remove(key);
    answerFound(ctx, (await find(taskId, asker)) ?? before);
  };
}

const alreadyFinished = {
  code: 'task_already_finished',
  param: 'task_id',
  message: 'The task has finished already; it is left as it is.',
} as const;

function notFinished(taskId: string): Refusal {
  const message =
    'The task has not finished, so it has no content to delete. ' +
    `Cancel it first, with DELETE /v1/videos/generations/${taskId}.`;
  return { code: 'task_not_finished', param: 'task_id', message };
}
