// Cancels a second upstream job of a task. The row of the job has no place for its id, so no duty would
// repeat this cancel: the attempt that got the id repeats it for a minute.

import { setTimeout } from 'node:timers/promises';
import type { JobName } from '../../src/jobs/job.rules';
import type { WorkerDeps } from '../deps';
import type { Provider } from '../providers/provider';

// The pauses double from a second to this one. Together they last a minute.
const pauseMaxMs = 32_000;

export async function cancelSecond(
  { events, stopping }: Pick<WorkerDeps, 'events' | 'stopping'>,
  job: JobName,
  provider: Provider,
  upstreamId: string,
): Promise<void> {
  for (let pauseMs = 1_000; !(await isTaken(provider, upstreamId, job)); pauseMs *= 2) {
    if (pauseMs > pauseMaxMs || stopping.aborted) {
      events.cancelGivenUp(job.taskId, job.kind, `the second job ${upstreamId} was not cancelled`);
      return;
    }
    await setTimeout(pauseMs, null, { signal: stopping }).catch(() => undefined);
  }
}

/** True if the provider takes the cancel. */
export async function isTaken(provider: Provider, upstreamId: string, { taskId }: JobName) {
  return provider.cancel(upstreamId, taskId).then(
    () => true,
    () => false,
  );
}
