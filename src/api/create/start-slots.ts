// Decides how a task's workflow is started: by its create, which then waits for the workflow's
// answer, or by the starter. A create waits if few starts of its account are in progress and
// Temporal answers. Temporal counts as away after several unanswered starts in a row; then one
// start per second probes it.

export interface StartSlot {
  /** True if Temporal counts as away: the caller is answered `pending` at once. */
  readonly isProbe: boolean;
  release(answered: boolean): void;
  /** Gives the slot back without a start. */
  leave(): void;
}

export interface StartSlots {
  /** A slot for a create; null if the starter has to start the task. */
  take(accountId: string): StartSlot | null;
  /** A slot for the starter, after `share` allowed it. */
  enter(accountId: string): StartSlot;
  /** The number of tasks the starter may claim now, given its starts in progress. */
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

// Sixteen starts keep a small Temporal server busy if one account is alone. Next to other accounts
// it gets few, because every start ahead of another account's task delays it (docs/decisions.md,
// 27).
const aloneMax = 16;
const besideOthersMax = 4;
const starterMax = 16;
// An account without a start for this long counts as absent.
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

/** Accounts that started a task recently. */
function createPresence(elapsed: () => number) {
  /** In the order of the last start, the most recent last. */
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
