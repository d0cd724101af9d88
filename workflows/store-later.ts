// The copy of results for which their task did not wait. It ends when they are stored, or when the
// provider's links have expired.

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
  setCurrentDetails('Copies results into the storage after their task has ended.');
  await storeAwaited(input);
}
