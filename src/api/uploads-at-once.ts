// Limits the uploads that arrive at once at this process, for one account and for all. An upload may
// take ten minutes, so a few callers could otherwise hold all connections.

import type { ApiCall } from './context';
import { Refused } from './context';
import type { Rates } from './deps';
import { limitHeaders, rateLimited } from './limits';

export function limitUploads({ uploadsAtOncePerAccountMax: max, uploadsAtOnceMax }: Rates) {
  const running = new Map<string, number>();
  let all = 0;
  const leave = (accountId: string) => {
    all -= 1;
    const left = (running.get(accountId) ?? 1) - 1;
    if (left > 0) running.set(accountId, left);
    else running.delete(accountId);
  };
  /** Counts an upload until its reply ends. Throws a refusal if a limit is reached. */
  return (ctx: ApiCall, accountId: string): void => {
    const own = running.get(accountId) ?? 0;
    if (own >= max) throw tooMany(`This account has ${max} uploads in progress`, max);
    if (all >= uploadsAtOnceMax) throw tooMany('Too many uploads are in progress', max);
    if (ctx.res.destroyed) return;
    all += 1;
    running.set(accountId, own + 1);
    ctx.res.once('close', () => leave(accountId));
  };
}

function tooMany(why: string, max: number): Refused {
  const message = `${why}, which is the limit. Try again shortly.`;
  return new Refused(rateLimited(message), { ...limitHeaders(max, 2), connection: 'close' });
}
