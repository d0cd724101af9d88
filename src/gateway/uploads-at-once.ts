// Limits the uploads that arrive at once at this process, for one account and for all. An upload may
// take ten minutes, so a few callers could otherwise hold all connections.

import type { ApiCall } from './context';
import { Refused } from './context';
import { countAtOnce } from './count-at-once';
import type { Rates } from './deps';
import { limitHeaders, rateLimited } from './limits';

export function limitUploads({ uploadsAtOncePerAccountMax: max, uploadsAtOnceMax }: Rates) {
  const running = countAtOnce(max, uploadsAtOnceMax);
  /** Counts an upload until its reply ends. Throws a refusal if a limit is reached. */
  return (ctx: ApiCall, accountId: string): void => {
    if (ctx.res.destroyed) return;
    const outcome = running.enter(accountId);
    if (outcome === 'own') throw tooMany(`This account has ${max} uploads in progress`, max);
    if (outcome === 'all') throw tooMany('Too many uploads are in progress', max);
    ctx.res.once('close', () => running.leave(accountId));
  };
}

function tooMany(why: string, max: number): Refused {
  const message = `${why}, which is the limit. Try again shortly.`;
  return new Refused(rateLimited(message), { ...limitHeaders(max, 2), connection: 'close' });
}
