// Delays refusals to a caller that gets many refusals. Without a delay, a caller that immediately
// repeats a refused call could keep the process busy. A delay costs only a timer.

import { setTimeout as pause } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { addressOf } from './auth';
import type { ApiState } from './context';
import type { ApiDeps } from './deps';
import { createBuckets } from './limits';

const lateMs = 200;
// A delayed reply keeps its request in memory. So if this many replies are already waiting, further
// replies are sent without a delay.
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
