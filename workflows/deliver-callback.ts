// The life of one callback: try, wait, try again, for up to three days. It outlives its task and never holds it up; while
// it waits it is a timer and nothing else.

import { proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { createCallbackActivities } from '../activities';
import type { CallbackInput, CallbackOutcome } from './messages';
import { movesWithDeploys } from './versioning';

type CallbackActivities = ReturnType<typeof createCallbackActivities>;

// It may outlive several deploys and has nothing to lose by moving to new code.
movesWithDeploys(deliverCallback);
export async function deliverCallback({
  taskId,
  delivery = 1,
}: CallbackInput): Promise<CallbackOutcome['state']> {
  const { attemptCallback } = proxyActivities<CallbackActivities>({
    taskQueue: `${workflowInfo().taskQueue}-callbacks`,
    // The attempt's own limit is 15 s; the rest is the database's. What is retried here is our trouble, not theirs.
    startToCloseTimeout: '40 s',
    retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '1 min' },
  });
  for (let attempt = 1; ; attempt += 1) {
    const chance = Math.random();
    const outcome = await attemptCallback({ taskId, delivery, attempt, chance });
    const answer = outcome.error ?? `HTTP ${outcome.status}`;
    if (outcome.nextInMs === null) {
      setCurrentDetails(`**${outcome.state}** after attempt ${attempt}: ${answer}`);
      return outcome.state;
    }
    const next = new Date(Date.now() + outcome.nextInMs).toISOString();
    setCurrentDetails(`Attempt ${attempt}: ${answer}. The next one at ${next}.`);
    await sleep(outcome.nextInMs, {
      summary: `attempt ${attempt}: ${answer}; attempt ${attempt + 1} at ${next}`.slice(0, 200),
    });
  }
}
