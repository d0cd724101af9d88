// How many deliveries may be on their way to one receiver at once, in this process. What finds no
// place is told when to come again: each gets a turn of its own, spaced by how fast the receiver
// has been answering, so that thousands who wait for a slow one cost about one look each and not
// one a second.

interface HostShare {
  /** A place under every one of these names, or how long to stay away. Call `leave` when done. */
  enter(names: readonly ShareName[]): Place | { readonly comeBackInMs: number };
}

interface ShareName {
  readonly name: string;
  readonly max: number;
}

export interface Place {
  readonly comeBackInMs?: undefined;
  /** With how long the receiver took; null where it was never asked. */
  leave(receiverMs: number | null): void;
}

interface Share {
  running: number;
  /** The mean of recent deliveries' length. */
  meanMs: number;
  /** The turn last given out. */
  turnAtMs: number;
}

// Below a second an engine's retry cannot go; beyond ten minutes a receiver that has recovered
// would wait for us.
const soonestMs = 1_000;
const latestMs = 10 * 60_000;
// Receivers whose speed is remembered while nothing is on its way to them; about a megabyte.
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
  // The line is longer than the wait: everyone past its end comes at another moment of the last
  // half.
  share.turnAtMs = nowMs + latestMs;
  return Math.round(latestMs * (0.5 + Math.random() / 2));
}
