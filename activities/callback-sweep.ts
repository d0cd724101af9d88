// Callbacks whose delivery was lost: its workflow was terminated, the engine lost its data, or
// whoever closed the task died before starting one. That a callback is owed stands in the database
// from the task's last transaction on, so the sweep finds it and lets it go on at the attempt that
// was not made.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import { takeOverdueDeliveries } from '../src/db/callbacks';
import type { CallbackInput } from '../workflows/messages';
import { callbackWorkflowId, workflowNames } from '../workflows/messages';

interface CallbackSweepDeps {
  readonly db: Knex;
  readonly client: Client;
  /** The queue of the workflows. */
  readonly taskQueue: string;
}

// Ten minutes is the longest a delivery waits for a busy receiver; what is later than that may be
// lost.
const overdueSeconds = 10 * 60;
// 200 starts a sweep are 3 a second: little beside the engine's work, and a backlog of 10,000 is
// gone within the hour.
const limit = 200;

/** How many deliveries were looked after; those that are alive do not notice. */
export async function restartLostCallbacks(
  deps: CallbackSweepDeps,
  afterSeconds = overdueSeconds,
): Promise<number> {
  const overdue = await takeOverdueDeliveries(deps.db, afterSeconds, limit);
  for (const { taskId, delivery, attempt } of overdue) {
    await startDelivery(deps, { taskId, delivery, firstAttempt: attempt });
  }
  return overdue.length;
}

/** Starts a delivery's workflow; where it is running already, nothing happens. */
export async function startDelivery(
  { client, taskQueue }: Omit<CallbackSweepDeps, 'db'>,
  input: CallbackInput,
): Promise<void> {
  await client.workflow.start(workflowNames.deliverCallback, {
    workflowId: callbackWorkflowId(input.taskId, input.delivery),
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue,
    args: [input],
    staticSummary: `callback of ${input.taskId}`,
  });
}
