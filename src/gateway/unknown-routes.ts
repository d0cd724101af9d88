// Answers requests that no route matched.

import type { Middleware } from 'koa';
import type { Admit } from './admit';
import { type ApiRouter, type ApiState, type KeyedRouter, refuse } from './context';

/** The name of routes that only refuse a call. `Allow` leaves out their methods. */
export const withoutTaskId = 'without task id';

interface Routers {
  readonly open: ApiRouter;
  readonly keyed: KeyedRouter;
  readonly admit: Admit;
  readonly shapes: readonly { routeOf(method: string, path: string): object | null }[];
}

const shapeMethods = ['HEAD', 'GET', 'POST', 'DELETE'];

/**
 * Answers 405 if the path exists for another method, else 404.
 * Under the paths of tasks a caller without a valid key gets 401 in both cases.
 */
export function answerUnknownRoutes({ open, keyed, admit, shapes }: Routers): Middleware<ApiState> {
  return async (ctx) => {
    if (/^\/(?:v1|api\/v3|mcp)(?:\/|$)/.test(ctx.path)) await admit(ctx);
    const layers = [...open.match(ctx.path, ctx.method).path];
    const keyedLayers = keyed.match(ctx.path, ctx.method).path;
    const possible = [...layers, ...keyedLayers].filter(({ name }) => name !== withoutTaskId);
    const ofShapes = shapeMethods.filter((method) =>
      shapes.some((shape) => shape.routeOf(method, ctx.path)),
    );
    const allowed = new Set([...possible.flatMap(({ methods }) => methods), ...ofShapes]);
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
