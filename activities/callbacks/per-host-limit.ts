// Limits how many deliveries run at the same time in this process, for each receiver and for each
// account. If no slot is free, the caller is told how long to wait before it tries again. The wait
// is computed from the recent answer times of the receiver. So even if thousands of deliveries
// wait, each delivery usually tries only once more, and not once per second.

export interface HostShare {
  /**
   * Takes a slot for each name. A name stands for a receiver, an account or all deliveries. If a
   * name has no free slot, takes no slot at all and returns the time to wait. Call `leave` of the
   * slot when the delivery is done.
   */
  enter(names: readonly ShareName[]): Slot | { readonly comeBackInMs: number };
}

interface ShareName {
  readonly name: string;
  readonly max: number;
  /** The account whose turn counts, if accounts share this name. */
  readonly by?: string;
}

export interface Slot {
  readonly comeBackInMs?: undefined;
  /**
   * Frees the slot under each name. `receiverMs` is the answer time of the receiver; null if
   * nothing was sent.
   */
  leave(receiverMs: number | null): void;
}

interface Share {
  running: number;
  /** The mean duration of recent deliveries. */
  meanMs: number;
  /** The latest of the times that waiting deliveries got for their next attempt, by account. */
  readonly turnsAtMs: Map<string, number>;
  /**
   * The accounts that found no free slot, in the order of their turns, and the times at which these
   * claims end. A claim keeps the next free slot for its account, so that no account waits for more
   * than one delivery of each account before it.
   */
  readonly claims: Map<string, number>;
}

// A wait of at least one second limits the number of retries in Temporal. If a wait could be longer
// than ten minutes, a receiver that has recovered would get no deliveries for too long.
const soonestMs = 1_000;
const latestMs = 10 * 60_000;
// An account that does not use its claim, perhaps because another process has sent the delivery,
// loses it after about the time of one delivery.
const claimedForMs = 15_000;
// If more names than this are stored, the names without running or waiting deliveries are removed.
// 10,000 names need about a megabyte of memory.
const rememberedMax = 10_000;

export function createHostShare(now: () => number): HostShare {
  const shares = new Map<string, Share>();
  const shareOf = (name: string): Share => {
    const share = shares.get(name) ?? {
      ...{ running: 0, meanMs: 1_000 },
      ...{ turnsAtMs: new Map(), claims: new Map() },
    };
    shares.set(name, share);
    return share;
  };
  const leave = (name: string, receiverMs: number | null): void => {
    const share = shareOf(name);
    share.running -= 1;
    if (receiverMs !== null) share.meanMs += (receiverMs - share.meanMs) / 8;
    // Untested: ten thousand receivers at once.
    if (shares.size > rememberedMax) forgetIdle(shares, now());
  };
  return {
    enter(names) {
      for (const wanted of names) {
        const share = shares.get(wanted.name);
        if (share && !hasRoom(share, wanted, now())) {
          return { comeBackInMs: turnOf(share, wanted, now()) };
        }
      }
      for (const { name, by = '' } of names) {
        const share = shareOf(name);
        share.running += 1;
        share.claims.delete(by);
      }
      return {
        leave(receiverMs) {
          for (const { name } of names) leave(name, receiverMs);
        },
      };
    },
  };
}

function forgetIdle(shares: Map<string, Share>, nowMs: number): void {
  for (const [name, { running, turnsAtMs }] of shares) {
    const isAwaited = [...turnsAtMs.values()].some((at) => at > nowMs);
    if (running === 0 && !isAwaited) shares.delete(name);
  }
}

/** True if a slot is free for the account after the claims that come before its own. */
function hasRoom({ running, claims }: Share, { max, by = '' }: ShareName, nowMs: number): boolean {
  let before = 0;
  for (const [account, endsAtMs] of claims) {
    if (endsAtMs <= nowMs) claims.delete(account);
    else if (account === by) break;
    else before += 1;
  }
  return running + before < max;
}

function turnOf(share: Share, { max, by = '' }: ShareName, nowMs: number): number {
  const { turnsAtMs, claims, meanMs } = share;
  for (const [account, at] of turnsAtMs) if (at <= nowMs) turnsAtMs.delete(account);
  // Each account that waits gets its part of the slots.
  const accounts = turnsAtMs.size + (turnsAtMs.has(by) ? 0 : 1);
  const turnAtMs = Math.max(turnsAtMs.get(by) ?? 0, nowMs) + (meanMs * accounts) / max;
  const wait = Math.round(turnAtMs - nowMs);
  const comeBackInMs = Math.max(soonestMs, wait);
  // Earlier deliveries of the account use the claim of one that comes back much later.
  if (!claims.has(by)) claims.set(by, nowMs + Math.min(comeBackInMs, claimedForMs) + claimedForMs);
  turnsAtMs.set(by, Math.min(turnAtMs, nowMs + latestMs));
  if (wait <= latestMs) return comeBackInMs;
  // All times up to the longest wait are already given to other deliveries. This delivery gets a
  // random time in the second half of the longest wait.
  return Math.round(latestMs * (0.5 + Math.random() / 2));
}
