// GET and DELETE of one task. A finished task is sent as it was stored; a live one may be waited
// for.

import { isFinal } from '../domain/task';
import type { ApiDeps } from './app';
import type { ApiCall, ApiRouter } from './context';
import { answerJsonText, refuse, taskNotFound } from './context';
import { unavailable } from './errors';
import type { FindTask, Found } from './find-task';

export type TaskHandler = (ctx: ApiCall, taskId: string) => Promise<void>;

export function readRoutes(router: ApiRouter, deps: ApiDeps, find: FindTask): void {
  const show = showTask(deps, find);
  const cancel = cancelTask(deps, find);
  const missingId = (ctx: ApiCall): void => {
    refuse(ctx, { code: 'task_id_required', param: 'task_id', message: 'task_id is required' });
  };
  for (const base of ['/v1/videos/generations', '/v1/video/generations']) {
    router.get([base, `${base}/`], missingId);
    router.delete([base, `${base}/`], missingId);
    router.get(`${base}/:task_id`, (ctx) => show(ctx, String(ctx.params.task_id)));
    router.delete(`${base}/:task_id`, (ctx) => cancel(ctx, String(ctx.params.task_id)));
  }
}

export function showTask(deps: ApiDeps, find: FindTask): TaskHandler {
  return async (ctx, taskId) => {
    ctx.state.taskId = taskId.slice(0, 64);
    const { accountId } = ctx.state.caller;
    const look = () => find(taskId, accountId);
    const waitSeconds = waitOf(ctx);
    if (waitSeconds > 0) ctx.set('Preference-Applied', `wait=${waitSeconds}`);
    const found =
      waitSeconds > 0
        ? await lookUntilFinal(deps, ctx, taskId, waitSeconds * 1_000, look)
        : await look();
    if (found) answerFound(ctx, found);
    else refuse(ctx, taskNotFound);
  };
}

function cancelTask({ engine }: ApiDeps, find: FindTask): TaskHandler {
  return async (ctx, taskId) => {
    ctx.state.taskId = taskId.slice(0, 64);
    const { accountId } = ctx.state.caller;
    const before = await find(taskId, accountId);
    if (!before) return refuse(ctx, taskNotFound);
    if (isFinal(before.status)) return refuse(ctx, alreadyFinished);
    const asked = await engine.cancel(taskId);
    if (asked === 'unavailable') return refuse(ctx, unavailable, { 'retry-after': '2' });
    const after = await find(taskId, accountId);
    // Its workflow ended between the two looks: then it was not we who ended it.
    if (asked === 'gone' && after && isFinal(after.status)) return refuse(ctx, alreadyFinished);
    answerFound(ctx, after ?? before);
  };
}

/** Looks until the task is final, the time is up, or nobody is there any more to hear it. */
async function lookUntilFinal(
  { now, listener, isServing }: ApiDeps,
  ctx: ApiCall,
  taskId: string,
  waitMs: number,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const until = now() + waitMs;
  const mayWait = () => now() < until && isServing() && !ctx.res.destroyed;
  for (;;) {
    // Listening begins before the look, so that no change falls between the two.
    const change = mayWait() ? listener.changed(taskId, until - now()) : null;
    const found = await look();
    if (!change || !found || isFinal(found.status)) return found;
    await change;
  }
}

function answerFound(ctx: ApiCall, { status, text, by }: Found): void {
  ctx.set('X-Answered-By', by);
  // Pollers are asked to come back in three seconds: between the two and five that the document
  // recommends.
  if (!isFinal(status)) ctx.set('Retry-After', '3');
  answerJsonText(ctx, text);
}

const alreadyFinished = {
  code: 'task_already_finished',
  param: 'task_id',
  message: 'The task has finished already; it is left as it is.',
} as const;

const waitSecondsMax = 60;

/**
 * `Prefer: wait=N`, 60 s at most; anything else is a preference we do not know and is ignored, as
 * such headers are.
 */
function waitOf({ req }: ApiCall): number {
  const { prefer } = req.headers;
  if (prefer === undefined) return 0;
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(String(prefer));
  return Math.min(Number(wait?.[1] ?? 0), waitSecondsMax);
}
