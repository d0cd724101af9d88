// Delivers one callback: it makes attempts with growing pauses, for about three days. The workflow of a
// task makes the first attempt itself, and starts this workflow only if that attempt fails. During a
// pause the workflow is only a timer.

import {
  type ActivityOptions,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { createCallbackActivities } from '../activities';
import { type CallbackInput, type CallbackOutcome, queuesOf } from './messages';
import { callbackPolicy } from './policies';
import { movesWithDeploys } from './versioning';

/**
 * The activities of callbacks, on a task queue of their own, so that slow receivers delay no task.
 */
export function callbackActivities(policy: ActivityOptions) {
  const taskQueue = queuesOf(workflowInfo().taskQueue).callbacks;
  return proxyActivities<ReturnType<typeof createCallbackActivities>>({ ...policy, taskQueue });
}

// A delivery may outlive several deploys, and any attempt can run on new code.
movesWithDeploys(deliverCallback);
export async function deliverCallback({
  taskId,
  delivery = 1,
  firstAttempt = 1,
}: CallbackInput): Promise<CallbackOutcome['state']> {
  const activities = callbackActivities(callbackPolicy);
  const tryOnce = async (attempt: number): Promise<CallbackOutcome> =>
    activities.attemptCallback.executeWithOptions({ summary: `attempt ${attempt}` }, [
      { taskId, delivery, attempt, chance: Math.random() },
    ]);

  try {
    // Of an attempt that was answered, the activity returns the recorded answer. So a delivery that
    // begins after the attempt of the task's workflow waits first.
    for (let attempt = firstAttempt; ; attempt += 1) {
      const outcome = await tryOnce(attempt);
      const summary = `attempt ${attempt}: ${answerOf(outcome)}`;
      if (outcome.nextInMs === null) {
        setCurrentDetails(`**${outcome.state}** — ${summary}`);
        return outcome.state;
      }
      const next = new Date(Date.now() + outcome.nextInMs).toISOString();
      const coming = `${summary}; attempt ${attempt + 1} at ${next}`;
      setCurrentDetails(coming);
      await sleep(outcome.nextInMs, { summary: coming.slice(0, 200) });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error; // Untested: only a defect leads here.
    // A cancel in the Temporal UI ends the delivery permanently. The row of the callback records
    // this end, so that no worker starts the delivery again.
    await CancellationScope.nonCancellable(() => activities.stopCallback({ taskId, delivery }));
    setCurrentDetails('**stopped** by an operator');
    return 'stopped';
  }
}

function answerOf({ error, status, state }: CallbackOutcome): string {
  return error ?? (status === null ? state : `HTTP ${status}`);
}
