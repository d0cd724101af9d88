import type { KeyedCall, KeyedRouter } from '../gateway/context';
import { refuse } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { withoutTaskId } from '../gateway/unknown-routes';
import { cancelTask, deleteTaskContent } from './change.http';
import type { FindTask } from './find-task';
import { type ShowTask, showRequest, showTask, type TaskHandler } from './read.http';

/** What callers do with one task. Each handler answers with the task object. */
export interface TaskHandlers {
  readonly show: ShowTask;
  readonly cancel: TaskHandler;
  readonly deleteContent: TaskHandler;
  /** What was sent for the task. */
  readonly sent: TaskHandler;
}

export function createTaskHandlers(deps: KeyedDeps, find: FindTask): TaskHandlers {
  return {
    show: showTask(deps, find),
    cancel: cancelTask(deps, find),
    deleteContent: deleteTaskContent(deps, find),
    sent: showRequest(find),
  };
}

export function readRoutes(router: KeyedRouter, handlers: TaskHandlers): void {
  const { show, cancel, deleteContent, sent } = handlers;
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
    router.get(`${base}/:task_id/request`, (ctx) => sent(ctx, String(ctx.params.task_id)));
    router.delete(`${base}/:task_id/content`, (ctx) =>
      deleteContent(ctx, String(ctx.params.task_id)),
    );
  }
}
