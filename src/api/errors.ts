// Turns thrown errors into replies. A refusal is sent as it is. A temporary error of the database,
// and any error of the storage, becomes a 503, so that the caller tries again. Every other error is
// a bug and becomes a 500 without details. Each error except a refusal is logged here, exactly
// once.

import type { Middleware } from 'koa';
import { isRetryable } from '../db/database';
import { StorageError } from '../storage/storage';
import type { Admit } from './admit';
import type { ApiRouter, ApiState, KeyedRouter } from './context';
import { Refused, refuse } from './context';
import type { RequestObserver } from './deps';

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
      if (isRetryable(error) || error instanceof StorageError) {
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

/** The name of routes that only refuse a call. `Allow` leaves out their methods. */
export const withoutTaskId = 'without task id';

interface Routers {
  readonly open: ApiRouter;
  readonly keyed: KeyedRouter;
  readonly admit: Admit;
}

/**
 * Answers a request that no route matched: 405 if the path exists for another method, else 404.
 * Under /v1 a caller without a valid key gets 401 in both cases.
 */
export function answerUnknownRoutes({ open, keyed, admit }: Routers): Middleware<ApiState> {
  return async (ctx) => {
    if (/^\/(?:v1|api\/v3)(?:\/|$)/.test(ctx.path)) await admit(ctx);
    const layers = [...open.match(ctx.path, ctx.method).path];
    const keyedLayers = keyed.match(ctx.path, ctx.method).path;
    const possible = [...layers, ...keyedLayers].filter(({ name }) => name !== withoutTaskId);
    const allowed = new Set(possible.flatMap(({ methods }) => methods));
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
