// Cancels a second upstream job of a task. The row of the job has no place for its id, so no duty would
// repeat this cancel: the attempt that got the id repeats it for about a minute. Meanwhile the attempt
// renews the lease of the job, also if a later attempt holds it, so the time is limited by the clock.

import { setTimeout } from 'node:timers/promises';
import type { JobName } from '../../src/jobs/job.rules';
import type { WorkerDeps } from '../deps';
import { inTime } from '../in-time';
import type { Provider } from '../providers/provider';

const repeatedForMs = 60_000;

// The pauses double from a second to this one.
const pauseMaxMs = 16_000;

export async function cancelSecond(
  { events, stopping }: Pick<WorkerDeps, 'events' | 'stopping'>,
  job: JobName,
  provider: Provider,
  upstreamId: string,
  forMs = repeatedForMs,
): Promise<void> {
  const until = performance.now() + forMs;
  const leftMs = () => until - performance.now();
  const tryNow = () => inTime(isTaken(provider, upstreamId, job), leftMs()).catch(() => false);
  for (let pauseMs = 1_000; !(await tryNow()); pauseMs = Math.min(pauseMs * 2, pauseMaxMs)) {
    if (pauseMs >= leftMs() || stopping.aborted) {
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
