// GET of a task's callback: its state and all attempts. Only the owner of the task can read them.

import { findTaskCallback, listAttempts } from '../../db/callbacks';
import { isTaskId } from '../../db/ids';
import type { KeyedContext, KeyedRouter } from '../context';
import { refuse, taskNotFound } from '../context';
import type { ApiDeps } from '../deps';
import type { FindTask } from './find-task';
import { askerOf } from './read';

export function callbackRoutes(
  router: KeyedRouter,
  { db }: Pick<ApiDeps, 'db'>,
  find: FindTask,
): void {
  const show = async (ctx: KeyedContext): Promise<void> => {
    const id = String(ctx.params.task_id ?? '');
    ctx.state.taskId = id.slice(0, 64);
    if (!isTaskId(id)) return refuse(ctx, taskNotFound);
    const callback = await findTaskCallback(db, id);
    const asker = askerOf(ctx);
    const isOwn = callback?.accountId === asker.accountId || (await find(id, asker)) !== undefined;
    if (!callback || !isOwn) return refuse(ctx, taskNotFound);
    const attempts = await listAttempts(db, id);
    ctx.body = {
      data: attempts.map(({ attempt, at, status, latencyMs, error }) => ({
        attempt,
        at: seconds(at),
        status,
        latency_ms: latencyMs,
        error,
      })),
      next_at: callback.nextAt ? seconds(callback.nextAt) : null,
      state: callback.state,
    };
  };
  router.get('/v1/videos/generations/:task_id/callbacks', show);
  router.get('/v1/video/generations/:task_id/callbacks', show);
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
