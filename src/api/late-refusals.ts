// Delays refusals to a caller that collects many of them. Otherwise a caller that repeats a refused
// call at once could keep the process busy; a delay costs only a timer.

import { setTimeout as pause } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { addressOf } from './auth';
import type { ApiState } from './context';
import type { ApiDeps } from './deps';
import { createBuckets } from './limits';

const lateMs = 200;
// A delayed reply keeps its request in memory, so above this number replies are not delayed.
const waitingMax = 2_000;

export function delayRefusals({ settings, elapsed, isServing }: ApiDeps): Middleware<ApiState> {
  const refusals = createBuckets({
    subject: 'Never shown',
    perSecond: settings.refusalRatePerSecond,
    elapsed,
  });
  let waiting = 0;
  return async (ctx, next) => {
    await next();
    const isRefused = ctx.status >= 400 && ctx.status < 500;
    if (!isRefused || refusals.take(ctx.state.caller?.keyId ?? addressOf(ctx)) === null) return;
    if (waiting >= waitingMax || !isServing()) return;
    waiting += 1;
    await pause(lateMs);
    waiting -= 1;
  };
}
