// Starts the workflows of pending tasks that no create is waiting for: queued behind other tasks of
// their account, accepted while Temporal was away, or left by a process that died. Each API process
// runs this loop. A lease in the row keeps two processes from starting the same task, and starting
// it twice would do no harm.

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
  /** Makes the loop claim tasks now. */
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
 * Longer than a create waits for a start (ACCEPT_TIMEOUT_MS), shorter than the reconciler's delay.
 */
export const leaseSeconds = 35;
// After an unanswered start other tasks go first for this long.
export const startAgainSeconds = 5;
// Claims at least this often, for tasks of processes that died and tasks whose pause is over.
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
      // Not after every start, so that one claim takes several tasks.
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
      // Rejected if `wake` was called since the claim began.
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
    if (outcome === 'unanswered' || outcome === 'busy') {
      await releaseStart(db, taskId, startAgainSeconds);
    }
    // The workflow has ended but the row is still pending: one of the two databases was restored
    // from a backup. That workflow never opens the task, so it fails.
    if (outcome === 'ended') {
      await failPending(db, taskId, stoppedMessage);
    }
  } catch (error) {
    onError('start', error);
  }
}
