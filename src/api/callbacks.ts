// How a task's callback fared, for the task's owner.

import type { Knex } from 'knex';
import { findStanding, listAttempts } from '../db/callbacks';
import type { Engine } from '../temporal';
import type { ApiContext, ApiRouter } from './context';
import { Refused, refuse, taskNotFound } from './context';
import { unavailable } from './errors';
import { isTaskId } from './task-id';

interface CallbackRoutesDeps {
  readonly db: Knex;
  readonly engine: Pick<Engine, 'describe'>;
}

export function callbackRoutes(router: ApiRouter, deps: CallbackRoutesDeps): void {
  const show = async (ctx: ApiContext): Promise<void> => {
    const id = String(ctx.params.task_id ?? '');
    ctx.state.taskId = id.slice(0, 64);
    if (!isTaskId(id)) return refuse(ctx, taskNotFound);
    const standing = await findStanding(deps.db, id);
    const { accountId } = ctx.state.caller;
    if (standing ? standing.accountId !== accountId : !(await isUnconfirmed(deps, id, accountId))) {
      return refuse(ctx, taskNotFound);
    }
    const attempts = standing ? await listAttempts(deps.db, id) : [];
    ctx.body = {
      data: attempts.map(({ attempt, at, status, latencyMs, error }) => ({
        attempt,
        at: seconds(at),
        status,
        latency_ms: latencyMs,
        error,
      })),
      next_at: standing?.nextAt ? seconds(standing.nextAt) : null,
      state: standing ? standing.state : 'pending',
    };
  };
  router.get('/v1/videos/generations/:task_id/callbacks', show);
  router.get('/v1/video/generations/:task_id/callbacks', show);
}

/** A task that no worker has confirmed yet has no row; the engine knows whose it is. */
async function isUnconfirmed(
  { engine }: CallbackRoutesDeps,
  id: string,
  accountId: string,
): Promise<boolean> {
  const task = await engine.describe(id);
  if (task === 'unavailable') throw new Refused(unavailable, { 'retry-after': '2' });
  return task !== 'unknown' && task.open && task.accountId === accountId;
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
