// The turns in which accounts start their pending tasks: start-time fair queueing, as for the slots of
// a channel (db/jobs/slots.ts). The turns of one process are in its memory: each process is fair by
// itself, so all together are.

export interface StartTurns {
  /** The last turn given; an account that was away begins there. */
  readonly begun: number;
  /** The last turn of each account that is not behind `begun`. */
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
      // The turns of an account are one apart at most, so these begin at `begun` again.
      for (const [id, at] of last) if (at + 1 <= begun) last.delete(id);
    },
  };
}
