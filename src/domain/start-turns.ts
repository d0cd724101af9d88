// The turns in which accounts start their pending tasks. A turn is a number, and lower turns start
// first. The method is start-time fair queueing. Each process keeps its own turns in memory. Each process is fair by itself, so all processes
// together are fair too.

export interface StartTurns {
  /** The highest turn given so far. An account that is not in `last` gets this turn next. */
  readonly begun: number;
  /**
   * The last turn of each account. An account is left out if its last turn no longer affects its
   * next turn.
   */
  readonly last: Readonly<Record<string, number>>;
  give(accountId: string, turn: number): void;
}

export function createStartTurns(): StartTurns {
  const last = new Map<string, number>();
  let begun = 0;
  return {
    get begun() {
      return begun;
    },
    get last() {
      return Object.fromEntries(last);
    },
    give(accountId, turn) {
      begun = Math.max(begun, turn);
      last.set(accountId, Math.max(turn, last.get(accountId) ?? 0));
      // The next turn of an account is at most its last turn plus one. If this is not above
      // `begun`, the next turn is `begun`, and the last turn need not be kept.
      for (const [id, at] of last) if (at + 1 <= begun) last.delete(id);
    },
  };
}
