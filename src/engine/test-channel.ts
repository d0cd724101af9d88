// The test of a channel by a worker, for operators.

import type { Client } from '@temporalio/client';
import { type ChannelTested, queuesOf } from '../../workflows/messages';

// Longer than a provider may take for the answer to a read.
const testTimeout = '20 s';

/**
 * The test is an activity without a workflow: nobody repeats it but its caller. Calls that come while a
 * test of the channel is running get the answer of that test. Null: the worker does not know the channel.
 */
export function runChannelTest(
  client: Client,
  taskQueue: string,
  channel: string,
): Promise<ChannelTested | null> {
  return client.activity.execute('testChannel', {
    id: `${channel}:test`,
    idConflictPolicy: 'USE_EXISTING',
    scheduleToCloseTimeout: testTimeout,
    retry: { maximumAttempts: 1 },
    taskQueue: queuesOf(taskQueue).loops,
    args: [{ channel }],
    summary: `test of ${channel}`,
  });
}
