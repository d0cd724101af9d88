// Nearly all requests create a task or read one. These requests bypass the router, because routing
// takes as long as the whole reply to a poll.

import type { Middleware } from 'koa';
import type { TaskHandler } from '../tasks/read.http';
import type { Admit } from './admit';
import type { ApiState, KeyedCall } from './context';

interface BusyHandlers {
  readonly admit: Admit;
  readonly create: (ctx: KeyedCall) => Promise<void>;
  readonly show: TaskHandler;
}

/** Matches only the canonical form of these paths; the router handles every other spelling. */
const address = /^(\/v1\/videos?\/generations)(?:\/(task_[0-9a-z]+))?$/;

export function busyRoutes({ admit, create, show }: BusyHandlers): Middleware<ApiState> {
  return async (ctx, next) => {
    const { method } = ctx;
    if (method !== 'GET' && method !== 'POST') return next();
    const [, base, taskId] = address.exec(ctx.path) ?? [];
    if (base && !taskId && method === 'POST') {
      ctx.state.route = base;
      return create(await admit(ctx));
    }
    if (base && taskId && method === 'GET') {
      ctx.state.route = `${base}/:task_id`;
      return show(await admit(ctx), taskId);
    }
    return next();
  };
}
