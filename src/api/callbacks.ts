// How a task's callback fared, for the task's owner.

import type { Knex } from 'knex';
import { findCallback, listAttempts } from '../db/callbacks';
import { findTask } from '../db/tasks';
import type { ApiContext, ApiRouter } from './context';
import { refuse, taskNotFound } from './context';

export function callbackRoutes(router: ApiRouter, { db }: { readonly db: Knex }): void {
  const show = async (ctx: ApiContext): Promise<void> => {
    const id = String(ctx.params.task_id ?? '');
    const task = await findTask(db, id);
    if (task?.accountId !== ctx.state.caller.accountId) {
      refuse(ctx, taskNotFound);
      return;
    }
    const [callback, attempts] = await Promise.all([findCallback(db, id), listAttempts(db, id)]);
    ctx.body = {
      data: attempts.map(({ attempt, at, status, latencyMs, error }) => ({
        attempt,
        at: Math.floor(at.getTime() / 1000),
        status,
        latency_ms: latencyMs,
        error,
      })),
      next_at: callback?.nextAt ? Math.floor(callback.nextAt.getTime() / 1000) : null,
      state: callback?.state ?? 'pending',
    };
  };
  router.get('/v1/videos/generations/:task_id/callbacks', show);
  router.get('/v1/video/generations/:task_id/callbacks', show);
}
