// Runs the real watcher of a channel inside a test.

import { MockActivityEnvironment } from '@temporalio/testing';
import type { WorkerDeps } from '../../activities/deps';
import { createWatchActivities } from '../../activities/jobs/watch-channel';

/** Watches a channel until `done` resolves, and then stops as a stopped worker does. */
export async function watchWhile(
  deps: Omit<WorkerDeps, 'stopping'>,
  done: () => Promise<void>,
  channel = 'studio',
): Promise<void> {
  const stopping = new AbortController();
  const { watchJobs } = createWatchActivities({ ...deps, stopping: stopping.signal });
  const run = new MockActivityEnvironment().run(watchJobs, { channel });
  const ended = expect(run).rejects.toThrow('This worker stops');
  try {
    await done();
  } finally {
    stopping.abort();
    await ended;
  }
}
