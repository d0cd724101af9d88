// Keeps one watcher per channel alive, for ever. The loop itself is a single long activity; this
// workflow only makes sure that there always is one, wherever a worker lives, and starts its
// history afresh every hour.

import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { WatchInput } from './messages';
import { watchPolicy } from './policies';
import { movesWithDeploys } from './versioning';

// Lives for ever, so it moves to new code with the workers; a task stays on the build it began on.
movesWithDeploys(watchChannel);
export async function watchChannel(input: WatchInput): Promise<void> {
  const { watchJobs } = proxyActivities<Activities>({ ...watchPolicy, taskQueue: input.taskQueue });
  setCurrentDetails(`Asks **${input.channel}** about its open jobs and tells their tasks.`);
  const outcome = await watchJobs(input);
  // A channel that has left the catalogue and has no open job needs no watcher any more.
  if (outcome === 'go on') await continueAsNew<typeof watchChannel>(input);
}
