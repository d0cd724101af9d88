// GET and DELETE of a task, and DELETE of its content. The object of a finished task is sent as it
// was stored. With `Prefer: wait` a GET waits until the task has finished.

import type { Refusal } from '../../contract/error';
import type { TaskObject } from '../../contract/task';
import { findResults } from '../../db/files/results';
import { removeResults } from '../../db/files/retention';
import { failPending } from '../../db/pending-tasks';
import { resultRoles } from '../../domain/results';
import { cancelledMessage, isCancelled, isFinal } from '../../domain/task';
import { addressOf } from '../auth';
import type { KeyedCall, KeyedRouter } from '../context';
import { answerJsonText, refuse, taskNotFound } from '../context';
import type { KeyedDeps } from '../deps';
import { unavailable } from '../errors';
import { withoutTaskId } from '../unknown-routes';
import {
  type AskedTask,
  type Asker,
  askedTask,
  createWorkflowReads,
  type FindTask,
  type Found,
} from './find-task';
import { holdReads } from './held-reads';

export type TaskHandler = (ctx: KeyedCall, taskId: string) => Promise<void>;

/** A form of a task besides our own. */
export type Form = (task: AskedTask) => object;

export type ShowTask = (ctx: KeyedCall, taskId: string, form?: Form) => Promise<void>;

/** What callers do with one task. Each handler answers with the task object. */
export interface TaskHandlers {
  readonly show: ShowTask;
  readonly cancel: TaskHandler;
  readonly deleteContent: TaskHandler;
}

export function createTaskHandlers(deps: KeyedDeps, find: FindTask): TaskHandlers {
  return {
    show: showTask(deps, find),
    cancel: cancelTask(deps, find),
    deleteContent: deleteTaskContent(deps, find),
  };
}

export function readRoutes(router: KeyedRouter, handlers: TaskHandlers): void {
  const { show, cancel, deleteContent } = handlers;
  const missingId = (ctx: KeyedCall): void => {
    refuse(ctx, { code: 'task_id_required', param: 'task_id', message: 'task_id is required' });
  };
  for (const base of ['/v1/videos/generations', '/v1/video/generations']) {
    for (const path of [base, `${base}/`]) {
      router.get(withoutTaskId, path, missingId);
      router.delete(withoutTaskId, path, missingId);
    }
    router.get(`${base}/:task_id`, (ctx) => show(ctx, String(ctx.params.task_id)));
    router.delete(`${base}/:task_id`, (ctx) => cancel(ctx, String(ctx.params.task_id)));
    router.delete(`${base}/:task_id/content`, (ctx) =>
      deleteContent(ctx, String(ctx.params.task_id)),
    );
  }
}

/** Answers GET of a task. */
function showTask(deps: KeyedDeps, find: FindTask): ShowTask {
  const hold = holdReads(deps);
  const { askAhead, withWorkflow } = createWorkflowReads(deps.temporal, find);
  return async (ctx, taskId, form) => {
    ctx.state.taskId = taskId.slice(0, 64);
    const asker = askerOf(ctx);
    askAhead(taskId, asker);
    const row = await hold(ctx, () => find(taskId, asker, form !== undefined));
    const found = row && (await withWorkflow(row, taskId, asker));
    if (!found) return refuse(ctx, taskNotFound);
    const { answeredBy = 'row' } = found;
    if (!isFinal(found.status)) ctx.state.answeredBy = answeredBy;
    ctx.set('X-Answered-By', answeredBy);
    answerFound(ctx, form ? inForm(form, found) : found);
  };
}

function inForm(form: Form, found: Found): Found {
  return { ...found, text: JSON.stringify(form(askedTask(found.text, found.asked))) };
}

/**
 * Confirms the cancellation in a separate field, because the shown status may still be the previous
 * one. If the video is being stored, or the task ended in another way, the cancellation comes too
 * late.
 */
function withCancel(found: Found): Found {
  if (found.live?.facts.isStoring) return found;
  const task = JSON.parse(found.text) as TaskObject;
  if (isFinal(task.status) && !isCancelled(task.error)) return found;
  return { ...found, text: JSON.stringify({ ...task, cancel_requested: true }) };
}

function cancelTask(deps: KeyedDeps, find: FindTask): TaskHandler {
  const { temporal } = deps;
  return async (ctx, taskId) => {
    ctx.state.taskId = taskId.slice(0, 64);
    const asker = askerOf(ctx);
    const before = await find(taskId, asker);
    if (!before) return refuse(ctx, taskNotFound);
    if (isFinal(before.status)) return refuse(ctx, alreadyFinished);
    const isCancelled = before.status === 'pending' && (await cancelPending(deps, ctx, taskId));
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
 * answer, the caller gets a 503. The bytes are then deleted by a repeated call or by the
 * reconciler.
 */
function deleteTaskContent({ storage }: KeyedDeps, find: FindTask): TaskHandler {
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

export function askerOf(ctx: KeyedCall): Asker {
  const { db, caller } = ctx.state;
  const { accountId, keyId } = caller;
  return { db, accountId, keyId, address: addressOf(ctx) };
}

/**
 * Fails a pending task in its row; returns false if the task is no longer pending. A workflow that
 * is started later finds the failed row and ends too.
 */
async function cancelPending(
  { temporal, observer }: KeyedDeps,
  ctx: KeyedCall,
  taskId: string,
): Promise<boolean> {
  const ended = await failPending(ctx.state.db, taskId, cancelledMessage);
  if (!ended) return false;
  if (ended.hasCallback) {
    // The row of the callback is stored, so the reconciler sends the callback if this call fails.
    temporal.deliverCallback(taskId).catch((error: unknown) => {
      observer.failed(error, ctx.state);
    });
  }
  return true;
}

function answerFound(ctx: KeyedCall, { status, text }: Found): void {
  // The API document recommends polling every two to five seconds.
  if (!isFinal(status)) ctx.set('Retry-After', '3');
  answerJsonText(ctx, text);
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
