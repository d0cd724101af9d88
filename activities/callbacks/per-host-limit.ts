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
  /** The latest of the times that waiting deliveries got for their next attempt. */
  turnAtMs: number;
}

// A wait of at least one second limits the number of retries in Temporal. If a wait could be longer
// than ten minutes, a receiver that has recovered would get no deliveries for too long.
const soonestMs = 1_000;
const latestMs = 10 * 60_000;
// If more names than this are stored, the names without running or waiting deliveries are removed.
// 10,000 names need about a megabyte of memory.
const rememberedMax = 10_000;

export function createHostShare(now: () => number): HostShare {
  const shares = new Map<string, Share>();
  const shareOf = (name: string): Share => {
    const share = shares.get(name) ?? { running: 0, meanMs: 1_000, turnAtMs: 0 };
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
      for (const { name, max } of names) {
        const share = shares.get(name);
        if (share && share.running >= max) return { comeBackInMs: turnOf(share, max, now()) };
      }
      for (const { name } of names) shareOf(name).running += 1;
      return {
        leave(receiverMs) {
          for (const { name } of names) leave(name, receiverMs);
        },
      };
    },
  };
}

function forgetIdle(shares: Map<string, Share>, nowMs: number): void {
  for (const [name, { running, turnAtMs }] of shares) {
    if (running === 0 && turnAtMs <= nowMs) shares.delete(name);
  }
}

function turnOf(share: Share, max: number, nowMs: number): number {
  share.turnAtMs = Math.max(share.turnAtMs, nowMs) + share.meanMs / max;
  const wait = Math.round(share.turnAtMs - nowMs);
  if (wait <= latestMs) return Math.max(soonestMs, wait);
  // All times up to the longest wait are already given to other deliveries. This delivery gets a
  // random time in the second half of the longest wait.
  share.turnAtMs = nowMs + latestMs;
  return Math.round(latestMs * (0.5 + Math.random() / 2));
}
