// The one place where what was thrown becomes an answer. A refusal says what it says; trouble with
// what we stand on is a 503 that may be tried again; everything else is a bug of ours: 500, its
// sentence hidden, logged once.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { isRetryable } from '../db/database';
import type { ApiState } from './context';
import { Refused, refuse } from './context';
import type { RequestObserver } from './requests';

export function answerErrors(observer: RequestObserver): Middleware<ApiState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof Refused) {
        refuse(ctx, error.refusal, error.headers);
        return;
      }
      observer.failed(error, ctx.state.requestId);
      if (isRetryable(error)) {
        refuse(ctx, unavailable, { 'retry-after': '2' });
        return;
      }
      const message = `Something went wrong here. Tell us the request id ${ctx.state.requestId}.`;
      refuse(ctx, { code: 'internal_error', param: '', message });
    }
  };
}

export const unavailable = {
  code: 'unavailable',
  param: '',
  message: 'The service cannot answer at the moment. Try again shortly.',
} as const;

/** Nobody answered: a known path with another method is a 405, everything else a 404. */
export function answerUnknownRoutes(routers: readonly Router<ApiState>[]): Middleware<ApiState> {
  return (ctx) => {
    const allowed = new Set<string>();
    for (const router of routers) {
      for (const layer of router.match(ctx.path, ctx.method).path) {
        for (const method of layer.methods) allowed.add(method);
      }
    }
    if (allowed.size === 0) {
      const message = `There is nothing at ${ctx.path.slice(0, 200)}.`;
      refuse(ctx, { code: 'route_not_found', param: '', message });
      return;
    }
    const methods = [...allowed].join(', ');
    const message = `${ctx.method} is not possible here; possible: ${methods}.`;
    refuse(ctx, { code: 'method_not_allowed', param: '', message }, { allow: methods });
  };
}
