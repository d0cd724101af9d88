// Starts the workflows of pending tasks that no create waits for. Such tasks were queued behind
// others of their account, accepted while Temporal was unavailable, or left by a process that died.
// Each API process runs this loop. A lease in the row prevents two processes from starting the same
// task; a second start would do no harm.

import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { claimStarts, failPending, releaseStart } from '../../db/pending-tasks';
import { createStartTurns } from '../../domain/start-turns';
import { stoppedMessage } from '../../domain/task';
import type { TaskInput } from '../../domain/task-transactions';
import type { TemporalClient } from '../../temporal/client';
import { createStartSlots, type StartSlot, type StartSlots } from './start-slots';

export interface Starter {
  readonly slots: StartSlots;
  /** Makes the loop claim tasks at once. */
  wake(): void;
  /** Starts a task whose row is leased to this process. */
  start(input: TaskInput, slot: StartSlot): Promise<void>;
  /** Stops claiming and waits for the starts in progress. */
  close(): Promise<void>;
}

interface StarterDeps {
  readonly db: Knex;
  readonly temporal: Pick<TemporalClient, 'submit'>;
  readonly elapsed: () => number;
  readonly onError: (what: string, error: unknown) => void;
}

/**
 * The lease must be longer than a create waits for the start of its task (ACCEPT_TIMEOUT_MS, at
 * most 30 s). The lease must be shorter than the minute after which the reconciler withdraws or
 * starts the task.
 */
export const leaseSeconds = 35;
// A task whose start failed is due again after this time, so that other tasks go first.
export const startAgainSeconds = 5;
// The loop claims tasks at least this often. Nothing wakes the loop for tasks of a process that
// died, or for tasks that are due again.
const idleMs = 1_000;

export function createStarter(deps: StarterDeps): Starter {
  const { db, onError } = deps;
  const slots = createStartSlots(deps.elapsed);
  const turns = createStartTurns();
  const running = new Set<Promise<void>>();
  let isClosed = false;
  let alarm = new AbortController();
  const wake = () => alarm.abort();

  const start = (input: TaskInput, slot: StartSlot): Promise<void> => {
    const started = submit(deps, input, slot).finally(() => {
      running.delete(started);
      // The loop is not woken after every start, so that one claim takes several tasks.
      if (running.size % 4 === 0) wake();
    });
    running.add(started);
    return started;
  };

  const claim = async (): Promise<void> => {
    const share = slots.share(running.size);
    if (share.limit === 0) return;
    const inputs = await claimStarts(db, { ...share, turns, leaseSeconds });
    for (const input of inputs) void start(input, slots.enter(input.accountId));
  };

  const loop = async (): Promise<void> => {
    while (!isClosed) {
      alarm = new AbortController();
      await claim().catch((error: unknown) => onError('claim', error));
      // `wake` ends the pause, even if `wake` was called while `claim` was running.
      await pause(idleMs, undefined, alarm).catch(() => undefined);
    }
  };

  const looping = loop();
  return {
    slots,
    wake,
    start,
    async close() {
      isClosed = true;
      wake();
      await looping;
      await Promise.all(running);
    },
  };
}

async function submit(deps: StarterDeps, input: TaskInput, slot: StartSlot): Promise<void> {
  const { db, temporal, onError } = deps;
  const { taskId } = input;
  try {
    const { outcome } = await temporal.submit(input);
    slot.release(outcome !== 'unanswered');
    if (outcome === 'unanswered') await releaseStart(db, taskId, startAgainSeconds);
    // The workflow has ended, but the row is still pending. This happens if the database of the
    // service or of Temporal was restored from a backup. An ended workflow cannot open the task, so
    // the task fails.
    if (outcome === 'ended') {
      await failPending(db, taskId, stoppedMessage);
    }
  } catch (error) {
    onError('start', error);
  }
}
