// Reduces tasks that ended long ago to slim rows. A pass over the old tasks starts once an hour. If a
// pass takes longer than a run, the next runs continue the pass. Each batch is one transaction, so an interrupted run loses
// the work of at most one batch. The pause after a batch is three times as long as the batch. So
// this work uses the database for at most a quarter of the time.

import { setTimeout as pause } from 'node:timers/promises';
import { forgetTasks } from '../../src/tasks/forget.rows';
import { type KeptDays, listOldTasks, type Position } from '../../src/tasks/old-tasks.rows';
import type { WorkerDeps } from '../deps';

const batchSize = 200;
const runForMs = 20_000;
const passEveryMs = 3_600_000;
const pauseFactor = 3;

/** Returns the number of tasks that were forgotten. */
export type ForgetOld = () => Promise<number>;

/**
 * The position of the pass is kept only in the memory of this process. A new process begins a new
 * pass.
 */
export function createForgetOld(
  { db, stopping }: Pick<WorkerDeps, 'db' | 'stopping'>,
  { tasksKeptDays, filesKeptDays }: KeptDays,
): ForgetOld {
  const kept = { tasksKeptDays, filesKeptDays };
  let after: Position | null = null;
  let nextPassAt = 0;
  return async () => {
    const now = () => performance.now();
    if (after === null && now() < nextPassAt) return 0;
    const until = now() + runForMs;
    let forgotten = 0;
    for (;;) {
      const began = now();
      const batch = await listOldTasks(db, after, kept, batchSize);
      forgotten += await forgetTasks(
        db,
        batch.filter(({ isSettled }) => isSettled),
      );
      if (after === null) nextPassAt = began + passEveryMs;
      after = batch.length < batchSize ? null : (batch.at(-1) ?? null);
      if (after === null || now() >= until || stopping.aborted) return forgotten;
      await pause((now() - began) * pauseFactor);
    }
  };
}
