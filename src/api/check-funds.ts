// What is obvious before a workflow is started: too little money, too many tasks. The door decides
// for real, so an account that had far more than enough a moment ago is not looked up again.

import { findFunds, insufficientBalance } from '../db/funds';
import type { ApiDeps } from './app';
import { type Denied, denied } from './context';
import { createMemory } from './memory';
import { limitHeaders, rateLimited } from './rate-limit';

// Far more is a hundred such tasks, and half of the tasks it may have.
const plenty = 100;
const knownForMs = 1_000;
const knownMax = 10_000;

/** `underWay` are the account's creates in this process, this one among them. */
type CheckFunds = (
  accountId: string,
  neededMicros: number,
  underWay: number,
) => Promise<Denied | null>;

export function createFundsCheck({ db, settings, now }: ApiDeps): CheckFunds {
  const tasksMax = settings.unfinishedTasksMax;
  /** What was looked up, less what has been let through since. */
  const known = createMemory<{ availableMicros: number; openTasks: number }>(now, knownMax);
  return async (accountId, neededMicros, underWay) => {
    const left = known.recall(accountId);
    const isPlenty =
      left &&
      left.availableMicros >= plenty * neededMicros &&
      left.openTasks + underWay <= tasksMax / 2;
    if (isPlenty) {
      left.availableMicros -= neededMicros;
      left.openTasks += 1;
      return null;
    }
    const { availableMicros, openTasks } = await findFunds(db, accountId);
    if (availableMicros < neededMicros) {
      return denied(insufficientBalance(neededMicros, availableMicros));
    }
    // Those under way beside this one will be open in a moment.
    if (openTasks + underWay - 1 >= tasksMax) {
      const message = `This account has ${openTasks} unfinished tasks, as many as it may have.`;
      return denied(rateLimited(message), limitHeaders(tasksMax, 10));
    }
    const alsoThis = { availableMicros: availableMicros - neededMicros, openTasks: openTasks + 1 };
    known.remember(accountId, alsoThis, now() + knownForMs);
    return null;
  };
}
