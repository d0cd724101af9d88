// GET of a task. The object of a finished task is sent as it was stored. With `Prefer: wait` a GET
// waits until the task has finished.

import type { VideoRequest } from '../contract/request';
import { sentRequest } from '../contract/sent-request';
import { askerOf } from '../gateway/auth';
import type { KeyedCall } from '../gateway/context';
import { answerJsonText, refuse, taskNotFound } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import {
  type AskedTask,
  askedTask,
  createWorkflowReads,
  type FindTask,
  type Found,
} from './find-task';
import { holdReads } from './held-reads.http';
import { isFinal } from './task.rules';
import { findRequest } from './tasks.rows';

export type TaskHandler = (ctx: KeyedCall, taskId: string) => Promise<void>;

/** A form of a task besides our own. */
export type Form = (task: AskedTask) => object;

export type ShowTask = (ctx: KeyedCall, taskId: string, form?: Form) => Promise<void>;

/** Answers GET of a task. */
export function showTask(deps: KeyedDeps, find: FindTask): ShowTask {
  const hold = holdReads(deps);
  const { askAhead, withWorkflow } = createWorkflowReads(deps.temporal);
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

/** Answers with the body of the create, as this service understood it. */
export function showRequest(find: FindTask): TaskHandler {
  return async (ctx, taskId) => {
    ctx.state.taskId = taskId.slice(0, 64);
    if (!(await find(taskId, askerOf(ctx)))) return refuse(ctx, taskNotFound);
    const request = await findRequest(ctx.state.db, taskId);
    if (request.metadata) {
      return answerJsonText(ctx, JSON.stringify(sentRequest(request as VideoRequest)));
    }
    const message = 'What was sent for this task was removed.';
    refuse(ctx, { code: 'request_removed', param: 'task_id', message });
  };
}

function inForm(form: Form, found: Found): Found {
  return { ...found, text: JSON.stringify(form(askedTask(found.text, found.asked))) };
}

export function answerFound(ctx: KeyedCall, { status, text }: Found): void {
  // The API document recommends polling every two to five seconds.
  if (!isFinal(status)) ctx.set('Retry-After', '3');
  answerJsonText(ctx, text);
}
