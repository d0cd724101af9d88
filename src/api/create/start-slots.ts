// Decides whether a create starts its workflow and waits for the answer, or leaves the start to the
// starter. A create waits if few starts of its account are in progress and Temporal answers. After
// three unanswered starts in a row Temporal counts as unavailable. Then only one start per second
// is made, as a probe.

export interface StartSlot {
  /**
   * True if Temporal counts as unavailable. The caller of a create is then answered `pending` at
   * once.
   */
  readonly isProbe: boolean;
  release(answered: boolean): void;
  /** Gives the slot back if nothing was started. */
  leave(): void;
}

export interface StartSlots {
  /** A slot for a create; null if the starter must start the task. */
  take(accountId: string): StartSlot | null;
  /** A slot for the starter. `share` says how many slots the starter may take. */
  enter(accountId: string): StartSlot;
  /**
   * Says how many tasks the starter may claim now. `running` is the number of starts that the
   * starter has in progress.
   */
  share(running: number): Share;
}

export interface Share {
  readonly limit: number;
  readonly perAccountMax: number;
  /** Starts in progress, by account. */
  readonly running: Readonly<Record<string, number>>;
}

interface Account {
  running: number;
  lastAt: number;
}

// Sixteen starts at once keep a small Temporal server busy, so an account may have sixteen if no
// other account is present. If other accounts are present, each start delays their tasks, so an
// account may have only four (docs/decisions.md, 27).
const aloneMax = 16;
const besideOthersMax = 4;
const starterMax = 16;
// An account counts as present for this long after its last create or start.
const presentForMs = 10_000;
const awayAfter = 3;
const probeEveryMs = 1_000;

export function createStartSlots(elapsed: () => number): StartSlots {
  const present = createPresence(elapsed);
  let unansweredInARow = 0;
  let probeAt = 0;

  const isAway = () => unansweredInARow >= awayAfter;
  const mayProbe = () => elapsed() >= probeAt;
  const perAccountMax = () => (present.count() > 1 ? besideOthersMax : aloneMax);

  const enter = (account: Account): StartSlot => {
    const isProbe = isAway();
    if (isProbe) probeAt = elapsed() + probeEveryMs;
    account.running += 1;
    const leave = (): void => {
      account.running -= 1;
    };
    return {
      isProbe,
      leave,
      release(answered) {
        unansweredInARow = answered ? 0 : unansweredInARow + 1;
        leave();
      },
    };
  };

  return {
    take(accountId) {
      const account = present.meet(accountId);
      const mayStart = isAway() ? mayProbe() : account.running < perAccountMax();
      return mayStart ? enter(account) : null;
    },
    enter: (accountId) => enter(present.meet(accountId)),
    share(running) {
      const free = Math.max(0, starterMax - running);
      const max = perAccountMax();
      if (isAway()) {
        return {
          limit: mayProbe() ? Math.min(free, 1) : 0,
          perAccountMax: max,
          running: {},
        };
      }
      return { limit: free, perAccountMax: max, running: present.running() };
    },
  };
}

/** Accounts with a create or a start in the last ten seconds, or with starts in progress. */
function createPresence(elapsed: () => number) {
  /** Ordered by the time of the last create or start, the most recent account last. */
  const accounts = new Map<string, Account>();
  const forgetAbsent = (): void => {
    for (const [id, { running, lastAt }] of accounts) {
      if (running > 0 || lastAt > elapsed() - presentForMs) return;
      accounts.delete(id);
    }
  };
  return {
    count: () => accounts.size,
    meet(id: string): Account {
      const account = accounts.get(id) ?? { running: 0, lastAt: 0 };
      account.lastAt = elapsed();
      accounts.delete(id);
      accounts.set(id, account);
      forgetAbsent();
      return account;
    },
    running: (): Record<string, number> =>
      Object.fromEntries([...accounts].map(([id, { running }]) => [id, running])),
  };
}
