// What every request gets and every answer carries: an id, a trace, the security headers, a line in
// the log, a place in the metrics.

import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { parseTraceparent } from '../domain/trace';
import type { ApiSettings } from './app';
import type { ApiCall, ApiState, Interval } from './context';

export interface RequestObserver {
  finished(request: FinishedRequest): void;
  /** An error that is ours: answered as 500 or 503, logged once. */
  failed(error: unknown, requestId: string): void;
}

export interface FinishedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly traceId: string;
  /** The span of the caller's that asked, where a traceparent was sent. */
  readonly parentSpanId: string | null;
  readonly startedAtMs: number;
  /** When a task was handed to the engine, and when the answer was there. */
  readonly submission: Interval | undefined;
  readonly accountId: string | undefined;
  readonly taskId: string | undefined;
  readonly code: string | undefined;
}

const always: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
];

export function observeRequests({
  observer,
  settings,
  now,
  isServing,
}: {
  readonly observer: RequestObserver;
  readonly settings: ApiSettings;
  readonly now: () => number;
  readonly isServing: () => boolean;
}): Middleware<ApiState> {
  const origins = new Set(settings.corsOrigins);
  // Only where callers are told an https address: a year is long for a service that has none.
  const isSecure = settings.publicUrl.startsWith('https://');
  const headers = isSecure
    ? [...always, ['Strict-Transport-Security', 'max-age=31536000']]
    : always;
  return async (ctx, next) => {
    const started = now();
    const { state } = ctx;
    state.requestId = randomUUID();
    const { req, res } = ctx;
    const { method = '' } = req;
    const parent = parseTraceparent(ctx.get('traceparent'));
    state.traceId = parent?.traceId ?? state.requestId.replaceAll('-', '');
    res.setHeader('X-Request-Id', state.requestId);
    for (const [name, value] of headers) res.setHeader(name, value);
    // Node keeps connections open by itself; while stopping, each answer must say that it is the
    // last.
    if (!isServing()) ctx.set('Connection', 'close');
    const { origin } = req.headers;
    const isKnownOrigin = origin !== undefined && origins.has(origin);
    if (isKnownOrigin) allowOrigin(ctx, origin);
    try {
      if (method === 'OPTIONS' && isKnownOrigin) ctx.status = 204;
      else await next();
    } finally {
      observer.finished({
        method,
        route: routeOf(ctx),
        status: res.statusCode,
        ms: now() - started,
        requestId: state.requestId,
        traceId: state.traceId,
        parentSpanId: parent?.spanId ?? null,
        startedAtMs: started,
        submission: state.submission,
        accountId: state.caller?.accountId,
        taskId: state.taskId,
        code: state.code,
      });
    }
  };
}

/** Its pattern, not its path: each address of a task would be a series of its own. */
function routeOf(ctx: ApiCall): string {
  const byRouter = (ctx as { _matchedRoute?: unknown })._matchedRoute;
  return ctx.state.route ?? String(byRouter ?? 'none');
}

function allowOrigin(
  ctx: { set(headers: Record<string, string>): void; vary(name: string): void },
  origin: string,
): void {
  ctx.vary('Origin');
  ctx.set({
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers':
      'authorization, content-type, idempotency-key, prefer, traceparent',
    'Access-Control-Expose-Headers': 'location, retry-after, x-request-id, idempotent-replayed',
    'Access-Control-Max-Age': '600',
  });
}
