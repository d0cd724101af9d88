// Finishes the copies that the task did not wait for, and uploads the video to the caller's URL.
// The workflow ends when both are done or have failed permanently.

import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { createFileActivities } from '../activities';
import type { StoreLater } from './messages';
import { storeLaterPolicy } from './policies';
import { movesWithDeploys } from './versioning';

type FileActivities = ReturnType<typeof createFileActivities>;

movesWithDeploys(storeLater);
export async function storeLater(input: StoreLater): Promise<void> {
  const taskQueue = `${workflowInfo().taskQueue}-files`;
  const { storeAwaited } = proxyActivities<FileActivities>({ ...storeLaterPolicy, taskQueue });
  setCurrentDetails('Copies and uploads results after their task has ended.');
  await storeAwaited(input);
}
