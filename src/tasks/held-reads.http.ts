// Holds a read with `Prefer: wait` until its task is final, and reads the task again each second.

import { setTimeout } from 'node:timers/promises';
import { countAtOnce } from '../gateway/at-once';
import type { KeyedCall } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import type { Found } from './find-task';
import { isFinal } from './task.rules';

const roundMs = 1_000;
const waitSecondsMax = 60;

type Read = () => Promise<Found | undefined>;

/**
 * A held read ends when the task is final, the time is over, the caller has disconnected or the
 * process is stopping. A server may ignore `Prefer: wait`, so a read is answered at once if its account
 * or all accounts together have too many held reads.
 */
export function holdReads({ limits, isServing }: KeyedDeps) {
  const held = countAtOnce(limits.heldReads);
  const nextRound = rounds();
  const untilFinal = async (ctx: KeyedCall, read: Read, waitMs: number) => {
    ctx.state.heldUntilMs ??= performance.now() + waitMs;
    const until = ctx.state.heldUntilMs;
    for (;;) {
      const found = await read();
      if (!found || isFinal(found.status) || !isServing() || ctx.res.destroyed) return found;
      const leftMs = until - performance.now();
      if (leftMs <= 0) return found;
      await (leftMs < roundMs ? setTimeout(leftMs) : nextRound());
    }
  };
  return async (ctx: KeyedCall, read: Read): Promise<Found | undefined> => {
    const waitSeconds = waitOf(ctx);
    const { accountId } = ctx.state.caller;
    if (waitSeconds === 0 || held.enter(accountId) !== 'entered') return read();
    ctx.set('Preference-Applied', `wait=${waitSeconds}`);
    return untilFinal(ctx, read, waitSeconds * 1_000).finally(() => held.leave(accountId));
  };
}

/**
 * Returns a function that resolves after a second at the latest, at the same time for all who wait.
 * So the held reads of a process share their statements.
 */
function rounds(): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= setTimeout(roundMs).then(() => {
      next = undefined;
    });
    return next;
  };
}

/**
 * The seconds of `Prefer: wait=N`, at most 60; 0 without this preference. Other preferences are
 * ignored, as the standard of the header requires.
 */
function waitOf({ method, req }: KeyedCall): number {
  const { prefer } = req.headers;
  if (prefer === undefined || method === 'HEAD') return 0;
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d+)"?\s*(?:$|[,;])/i.exec(String(prefer));
  return Math.min(Number(wait?.[1] ?? 0), waitSecondsMax);
}
