// Gives every request an id, a trace, security headers, a log line and metrics. It also adds the
// CORS headers and answers preflight requests of known origins.

import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { parseTraceparent } from '../telemetry/trace.rules';
import { bodyBytesMax } from './body';
import type { ApiCall, ApiState } from './context';
import type { ApiDeps } from './deps';

const always: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
];

export function observeRequests({
  observer,
  settings,
  elapsed,
  isServing,
}: ApiDeps): Middleware<ApiState> {
  const origins = new Set(settings.corsOrigins);
  // The HSTS header is sent only if the public address is https, because browsers remember this
  // header for a year.
  const isSecure = settings.publicUrl.startsWith('https://');
  const headers = isSecure
    ? [...always, ['Strict-Transport-Security', 'max-age=31536000']]
    : always;
  return async (ctx, next) => {
    const started = elapsed();
    const { state } = ctx;
    state.requestId = randomUUID();
    const { req, res } = ctx;
    const { method = '' } = req;
    const parent = parseTraceparent(ctx.get('traceparent'));
    state.traceId = parent?.traceId ?? state.requestId.replaceAll('-', '');
    res.setHeader('X-Request-Id', state.requestId);
    for (const [name, value] of headers) res.setHeader(name, value);
    // Node keeps connections open by default. While the process is starting or stopping, each reply
    // closes its connection.
    if (!isServing()) ctx.set('Connection', 'close');
    const { origin } = req.headers;
    const isKnownOrigin = origin !== undefined && origins.has(origin);
    if (isKnownOrigin) allowOrigin(ctx, origin);
    try {
      if (method === 'OPTIONS' && isKnownOrigin) ctx.status = 204;
      else await next();
    } finally {
      closeUnread(ctx);
      observer.finished({
        method,
        route: routeOf(ctx),
        status: state.isAbandoned ? 499 : res.statusCode,
        ms: Math.round(elapsed() - started),
        requestId: state.requestId,
        traceId: state.traceId,
        accountId: state.caller?.accountId,
        taskId: state.taskId,
        fileId: state.fileId,
        code: state.code,
        answeredBy: state.answeredBy,
      });
    }
  };
}

/**
 * Closes the connection if a large body was not read. Otherwise Node would read the body to its
 * end.
 */
function closeUnread({ req, res }: ApiCall): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  const isLarge = encoding !== undefined || Number(length ?? 0) > bodyBytesMax;
  if (isLarge && !req.complete && !res.headersSent) res.setHeader('Connection', 'close');
}

/**
 * The pattern of the route, also if the call was refused before it; `none` if no route matched. The
 * path is not used, because each path would become a metric series.
 */
function routeOf(ctx: ApiCall): string {
  const { matched = [] } = ctx as { matched?: readonly { methods: string[]; path: unknown }[] };
  const byRouter = matched.findLast(({ methods }) => methods.includes(ctx.method))?.path;
  return ctx.state.route ?? String(byRouter ?? 'none');
}

function allowOrigin(ctx: Pick<ApiCall, 'get' | 'set' | 'vary'>, origin: string): void {
  ctx.vary('Origin');
  // The clients of other services send headers of their own: x-stainless-…, mcp-….
  const asked = ctx.get('Access-Control-Request-Headers');
  ctx.set({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    ...(asked ? { 'Access-Control-Allow-Headers': asked } : {}),
    'Access-Control-Expose-Headers':
      'link, location, retry-after, preference-applied, x-request-id, idempotent-replayed, x-ignored-fields, x-passed-fields, ' +
      'x-answered-by, x-should-retry, openai-poll-after-ms, ratelimit-limit, ratelimit-remaining, ratelimit-reset',
    'Access-Control-Max-Age': '600',
  });
}
