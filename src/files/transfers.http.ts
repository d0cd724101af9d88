// Limits the downloads of files in this process: how many run at once for one client address and
// for the files of one account, and how many bytes of one account leave in a while. Otherwise a few
// slow readers could hold all connections.

import { LRUCache } from 'lru-cache';
import { limitAtOnce } from '../gateway/at-once';
import { addressOf } from '../gateway/auth';
import type { ApiCall } from '../gateway/context';
import { Refused } from '../gateway/context';
import type { Limits } from '../gateway/limit-table';
import { limitHeaders, rateLimited } from '../gateway/limits';

export interface Transfers {
  /** Counts a download until its reply ends. Throws a refusal if a limit is reached. */
  begin(ctx: ApiCall, accountId: string): void;
}

/** The bytes of one account that may leave in each second on average, and at once. */
const usual = { bytesPerSecond: 50_000_000, bytesAtOnce: 50_000_000_000 };

const accountsMax = 10_000;

export function createTransfers(
  elapsed: () => number,
  limits: Pick<Limits, 'downloads' | 'downloadsOfAddress'>,
  { bytesPerSecond, bytesAtOnce } = usual,
): Transfers {
  const beginOfAddress = limitAtOnce(limits, 'downloadsOfAddress');
  const beginOfAccount = limitAtOnce(limits, 'downloads');
  const owed = new LRUCache<string, { bytes: number; at: number }>({ max: accountsMax });
  const owedBytes = (accountId: string) => {
    const known = owed.get(accountId);
    if (!known) return 0;
    return Math.max(0, known.bytes - ((elapsed() - known.at) / 1_000) * bytesPerSecond);
  };
  return {
    begin(ctx, accountId) {
      // The client may have disconnected while the file was looked up. No later event reports that.
      if (ctx.res.destroyed) return;
      const over = owedBytes(accountId) - bytesAtOnce;
      if (over > 0) throw tooMuch(limits.downloads.own, Math.ceil(over / bytesPerSecond));
      // A download that the second limit refuses counts for the first until its refusal is sent.
      beginOfAddress(ctx, addressOf(ctx));
      beginOfAccount(ctx, accountId);
      const { socket } = ctx.req;
      const before = socket.bytesWritten;
      ctx.res.once('close', () => {
        const bytes = owedBytes(accountId) + socket.bytesWritten - before;
        owed.set(accountId, { bytes, at: elapsed() });
      });
    },
  };
}

function tooMuch(max: number, seconds: number): Refused {
  const message = `The files of this account were read too often. Try again in ${seconds} s.`;
  return new Refused(rateLimited(message), limitHeaders(max, seconds));
}
