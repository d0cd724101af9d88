// Starts of which the engine did not say whether it took them. Their callers were told that nothing
// will be charged, so the API looks for the task and cancels it, and what it does not get done the
// sweep does. A caller who repeats the call with the same key is told what became of it instead:
// then the id is taken back before that answer leaves.

import type { Knex } from 'knex';
import { claimUnknownStart, noteUnknownStart } from '../db/unknown-starts';
import type { Engine } from '../temporal';

export interface UnknownStarts {
  begin(taskId: string, nonce: string): void;
  /** Before a caller is told that this task exists. */
  takeBack(taskId: string): Promise<void>;
}

// The first look comes at once; the sweep takes over what is older than half a minute.
const lookEveryMs = 2_000;
const looksMax = 15;
// A flood of creates while the engine is away must not become a flood of looks when it is back.
const looksAtOnceMax = 20;

export function createUnknownStarts(
  db: Knex,
  engine: Pick<Engine, 'describe' | 'cancel'>,
  onError: (error: unknown) => void,
): UnknownStarts {
  let looking = 0;

  /** True when there is nothing left to do. */
  const look = async (taskId: string, nonce: string): Promise<boolean> => {
    const task = await engine.describe(taskId);
    if (task === 'unavailable' || task === 'unknown') return false;
    const isOurs = task.open && task.nonce === nonce;
    if (!(await claimUnknownStart(db, taskId)) || !isOurs) return true;
    if ((await engine.cancel(taskId)) !== 'unavailable') return true;
    await noteUnknownStart(db, taskId, nonce);
    return false;
  };

  const lookAgainAndAgain = async (taskId: string, nonce: string): Promise<void> => {
    let isNoted = false;
    for (let n = 0; n < looksMax; n += 1) {
      try {
        if (!isNoted) await noteUnknownStart(db, taskId, nonce);
        isNoted = true;
        if (looking > looksAtOnceMax || (await look(taskId, nonce))) return;
      } catch (error) {
        onError(error);
      }
      await new Promise<void>((resolve) => {
        setTimeout(resolve, lookEveryMs).unref();
      });
    }
  };

  return {
    begin(taskId, nonce) {
      looking += 1;
      void lookAgainAndAgain(taskId, nonce).finally(() => {
        looking -= 1;
      });
    },
    async takeBack(taskId) {
      // Without a database nobody can claim it either, and the caller must hear of the task all the
      // same.
      await claimUnknownStart(db, taskId).catch(onError);
    },
  };
}
