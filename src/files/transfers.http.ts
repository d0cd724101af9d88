// Limits the downloads of files in this process: how many run at once for one client address and
// for the files of one account, and how many bytes of one account leave in a while. Otherwise a few
// slow readers could hold all connections.

import { LRUCache } from 'lru-cache';
import { addressOf } from '../gateway/auth';
import type { ApiCall } from '../gateway/context';
import { Refused } from '../gateway/context';
import { limitHeaders, rateLimited } from '../gateway/limits';

export interface Transfers {
  /** Counts a download until its reply ends. Throws a refusal if a limit is reached. */
  begin(ctx: ApiCall, accountId: string): void;
}

export interface TransferLimits {
  readonly perAddressMax: number;
  readonly perAccountMax: number;
  /** The bytes of one account that may leave in each second on average, and at once. */
  readonly bytesPerSecond: number;
  readonly bytesAtOnce: number;
}

// Many people may watch the videos of one account, and many may share one address. A player opens a
// few connections for each video.
const usual: TransferLimits = {
  perAddressMax: 100,
  perAccountMax: 400,
  bytesPerSecond: 50_000_000,
  bytesAtOnce: 50_000_000_000,
};

const accountsMax = 10_000;

export function createTransfers(
  elapsed: () => number,
  limits: Partial<TransferLimits> = {},
): Transfers {
  const { perAddressMax, perAccountMax, bytesPerSecond, bytesAtOnce } = { ...usual, ...limits };
  const running = new Map<string, number>();
  const owed = new LRUCache<string, { bytes: number; at: number }>({ max: accountsMax });
  const runs = (name: string) => running.get(name) ?? 0;
  const leave = (name: string) => {
    if (runs(name) > 1) running.set(name, runs(name) - 1);
    else running.delete(name);
  };
  const owedBytes = (accountId: string) => {
    const known = owed.get(accountId);
    if (!known) return 0;
    return Math.max(0, known.bytes - ((elapsed() - known.at) / 1_000) * bytesPerSecond);
  };
  return {
    begin(ctx, accountId) {
      // The client may have disconnected while the file was looked up. No later event reports that.
      if (ctx.res.destroyed) return;
      const [address, account] = [`address ${addressOf(ctx)}`, `account ${accountId}`];
      if (runs(address) >= perAddressMax) throw tooMany('This address has', perAddressMax);
      if (runs(account) >= perAccountMax) throw tooMany('This account has', perAccountMax);
      const over = owedBytes(accountId) - bytesAtOnce;
      if (over > 0) throw tooMuch(perAccountMax, Math.ceil(over / bytesPerSecond));
      for (const name of [address, account]) running.set(name, runs(name) + 1);
      const { socket } = ctx.req;
      const before = socket.bytesWritten;
      ctx.res.once('close', () => {
        for (const name of [address, account]) leave(name);
        const bytes = owedBytes(accountId) + socket.bytesWritten - before;
        owed.set(accountId, { bytes, at: elapsed() });
      });
    },
  };
}

function tooMany(who: string, max: number): Refused {
  const message = `${who} ${max} downloads in progress, which is the limit. Try again shortly.`;
  return new Refused(rateLimited(message), limitHeaders(max, 2));
}

function tooMuch(max: number, seconds: number): Refused {
  const message = `The files of this account were read too often. Try again in ${seconds} s.`;
  return new Refused(rateLimited(message), limitHeaders(max, seconds));
}
