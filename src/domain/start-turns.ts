// The turns in which accounts start their pending tasks. The method is start-time fair queueing, as
// for the slots of a channel (db/jobs/slots.ts). Each process keeps its own turns in memory. Each
// process is fair by itself, so all processes together are fair too.

export interface StartTurns {
  /** The highest turn given so far. An account without a recent turn begins here. */
  readonly begun: number;
  /**
   * The last turn of each account, unless it is so old that the account begins at `begun` again.
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
      // An account's next turn is at most one after its last. If that is not after `begun`, the
      // account begins at `begun` again.
      for (const [id, at] of last) if (at + 1 <= begun) last.delete(id);
    },
  };
}
