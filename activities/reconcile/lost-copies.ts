// Starts lost copies and uploads of results again. A copy or an upload is lost if its workflow was
// terminated after the end of the task, or if Temporal lost its data.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import { drawAwaited } from '../../src/db/files/results';
import { storeLaterWorkflowId, workflowNames } from '../../workflows/messages';
import type { ActivityEvents } from '../events';
import { oneByOne } from './one-by-one';

export interface CopyStartDeps {
  readonly db: Knex;
  readonly client: Client;
  readonly events: Pick<ActivityEvents, 'finding'>;
  /** The task queue of the workflows. */
  readonly taskQueue: string;
}

// The copy is started when the task ends. After a minute, the copy is either running or lost.
const afterSeconds = 60;
const limit = 100;

/** Starts the overdue copies. If a copy is still running, its start has no effect. */
export async function restartLostCopies(
  { db, client, taskQueue, events }: CopyStartDeps,
  seconds = afterSeconds,
): Promise<void> {
  const start = async (taskId: string): Promise<void> => {
    await client.workflow.start(workflowNames.storeLater, {
      workflowId: storeLaterWorkflowId(taskId),
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue,
      args: [{ taskId }],
      staticSummary: `storage of ${taskId}`,
    });
  };
  await oneByOne(await drawAwaited(db, seconds, limit), start, (taskId) => {
    events.finding('stuck', taskId, 'the copy of its results could not be started');
  });
}
