// Starts of which the engine did not say whether it took them. Where the task's row says so, its
// caller is told of the task. Otherwise the start is noted, and he is told that nothing will be
// charged; the API looks for the task and cancels it, and what it does not get done the sweep does.
// Where the database cannot note it either he is promised nothing. A caller who repeats
// the call with the same key is told what became of it instead: then the id is taken back before
// that answer leaves.

import type { Knex } from 'knex';
import { findTask, type StoredTask } from '../db/tasks';
import {
  forgetUnknownStart,
  isUnknownStart,
  noteUnknownStart,
  takeBackTask,
} from '../db/unknown-starts';
import type { Engine } from '../temporal';

export interface UnknownStarts {
  /**
   * The task, where it is known to exist after all; else it will be cancelled, and if it is noted,
   * never charged.
   */
  begin(taskId: string, nonce: string): Promise<StoredTask | 'noted' | 'not noted'>;
  /** Before a caller is told that this task exists. */
  takeBack(taskId: string): Promise<void>;
}

// The first look comes at once; the sweep takes over what is older than half a minute. An engine
// that did not answer has much to do, so it is asked less and less often; the last ones are for a
// note that could not be made because the database was away as well.
const pausesMs = [0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];
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
    if (!task.open || task.nonce !== nonce) {
      await forgetUnknownStart(db, taskId, nonce);
      return true;
    }
    if (!(await isUnknownStart(db, taskId, nonce))) return true;
    // The note stands until the task has ended, for it may succeed before it hears of this; its
    // door takes the note away, or the sweep does.
    return (await engine.cancel(taskId)) === 'asked';
  };

  const lookAgainAndAgain = async (taskId: string, nonce: string, wasNoted: boolean) => {
    let isNoted = wasNoted;
    for (const pauseMs of pausesMs) {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, pauseMs).unref();
      });
      try {
        if (!isNoted) await noteUnknownStart(db, taskId, nonce);
        isNoted = true;
        if (looking > looksAtOnceMax || (await look(taskId, nonce))) return;
      } catch (error) {
        onError(error);
      }
    }
  };

  return {
    async begin(taskId, nonce) {
      let isNoted = false;
      try {
        await noteUnknownStart(db, taskId, nonce);
        const task = await foundAfterAll(db, taskId);
        if (task) return task;
        isNoted = true;
      } catch (error) {
        onError(error);
      }
      looking += 1;
      void lookAgainAndAgain(taskId, nonce, isNoted).finally(() => {
        looking -= 1;
      });
      return isNoted ? 'noted' : 'not noted';
    },
    async takeBack(taskId) {
      // The caller must hear of the task all the same.
      await takeBackTask(db, taskId).catch(onError);
    },
  };
}

/** As long as it was noted it may have been closed uncharged; afterwards nobody will. */
async function foundAfterAll(db: Knex, taskId: string): Promise<StoredTask | null> {
  if (!(await findTask(db, taskId))) return null;
  await takeBackTask(db, taskId);
  const task = await findTask(db, taskId);
  return task?.status === 'failed' ? null : task;
}
