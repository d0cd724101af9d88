// Limits the concurrent deliveries to one receiver, in this process. A delivery without a slot gets
// a time to come back. These times follow the receiver's recent speed, so that thousands of waiting
// deliveries cost about one check each instead of one per second.

interface HostShare {
  /**
   * Takes a slot under each of these names, or returns how long to wait. Call `leave` when done.
   */
  enter(names: readonly ShareName[]): Slot | { readonly comeBackInMs: number };
}

interface ShareName {
  readonly name: string;
  readonly max: number;
}

export interface Slot {
  readonly comeBackInMs?: undefined;
  /** Takes the receiver's answer time; null if it was not called. */
  leave(receiverMs: number | null): void;
}

interface Share {
  running: number;
  /** Mean duration of recent deliveries. */
  meanMs: number;
  /** The last time that was assigned to a waiting delivery. */
  turnAtMs: number;
}

// Temporal's retries are never closer than a second. After more than ten minutes a recovered
// receiver would wait for us.
const soonestMs = 1_000;
const latestMs = 10 * 60_000;
// Receivers whose speed is kept while they have no deliveries; about a megabyte.
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
  // The queue is longer than the longest wait, so the rest is spread over the second half of it.
  share.turnAtMs = nowMs + latestMs;
  return Math.round(latestMs * (0.5 + Math.random() / 2));
}
