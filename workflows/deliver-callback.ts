// The life of one callback: try, wait, try again, for up to three days. It outlives its task and
// never holds it up; while it waits it is a timer and nothing else.

import {
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { createCallbackActivities } from '../activities';
import { callbackPolicy } from './callback-policies';
import type { CallbackInput, CallbackOutcome } from './messages';
import { movesWithDeploys } from './versioning';

type CallbackActivities = ReturnType<typeof createCallbackActivities>;

// It may outlive several deploys and has nothing to lose by moving to new code.
movesWithDeploys(deliverCallback);
export async function deliverCallback({
  taskId,
  delivery = 1,
  firstAttempt = 1,
}: CallbackInput): Promise<CallbackOutcome['state']> {
  const taskQueue = `${workflowInfo().taskQueue}-callbacks`;
  const activities = proxyActivities<CallbackActivities>({ ...callbackPolicy, taskQueue });
  const tryOnce = async (attempt: number): Promise<CallbackOutcome> =>
    activities.attemptCallback.executeWithOptions({ summary: `attempt ${attempt}` }, [
      { taskId, delivery, attempt, chance: Math.random() },
    ]);

  try {
    for (let attempt = firstAttempt; ; attempt += 1) {
      const outcome = await tryOnce(attempt);
      const told = `attempt ${attempt}: ${answerOf(outcome)}`;
      if (outcome.nextInMs === null) {
        setCurrentDetails(`**${outcome.state}** — ${told}`);
        return outcome.state;
      }
      const next = new Date(Date.now() + outcome.nextInMs).toISOString();
      const coming = `${told}; attempt ${attempt + 1} at ${next}`;
      setCurrentDetails(coming);
      await sleep(outcome.nextInMs, { summary: coming.slice(0, 200) });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // "Cancel" in the Temporal UI means that it is to end, so the sweep must not take it for a lost
    // one.
    await CancellationScope.nonCancellable(() => activities.stopCallback({ taskId, delivery }));
    setCurrentDetails('**stopped** by an operator');
    return 'stopped';
  }
}

function answerOf({ error, status, state }: CallbackOutcome): string {
  return error ?? (status === null ? state : `HTTP ${status}`);
}
