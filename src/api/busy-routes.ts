// Nearly all calls create a task or ask for one. These two go straight to their handlers: the way
// through the router costs as much as the answer to a poll.

import type { Middleware } from 'koa';
import type { ApiCall, ApiState } from './context';
import type { TaskHandler } from './read';

interface BusyHandlers {
  readonly create: (ctx: ApiCall) => Promise<void>;
  readonly show: TaskHandler;
}

/** Exactly what the router would find for them; whatever looks any different is left to it. */
const address = /^(\/v1\/videos?\/generations)(?:\/(task_[0-9a-z]+))?$/;

export function busyRoutes({ create, show }: BusyHandlers): Middleware<ApiState> {
  return (ctx, next) => {
    const { method } = ctx;
    if (method !== 'GET' && method !== 'POST') return next();
    const [, base, taskId] = address.exec(ctx.path) ?? [];
    if (base && !taskId && method === 'POST') {
      ctx.state.route = base;
      return create(ctx);
    }
    if (base && taskId && method === 'GET') {
      ctx.state.route = `${base}/:task_id`;
      return show(ctx, taskId);
    }
    return next();
  };
}
