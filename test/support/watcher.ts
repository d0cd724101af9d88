// Runs the real watcher of a channel inside a test.

import { MockActivityEnvironment } from '@temporalio/testing';
import type { WorkerDeps } from '../../activities/deps';
import { createWatchActivities } from '../../activities/jobs/watch-channel';

/** Watches the channel `studio` until `done` resolves, and then stops as a stopped worker does. */
export async function watchWhile(
  deps: Omit<WorkerDeps, 'stopping'>,
  done: () => Promise<void>,
): Promise<void> {
  const stopping = new AbortController();
  const { watchJobs } = createWatchActivities({ ...deps, stopping: stopping.signal });
  const input = { channel: 'studio' };
  const run = new MockActivityEnvironment().run(watchJobs, input);
  const ended = expect(run).rejects.toThrow('This worker stops');
  try {
    await done();
  } finally {
    stopping.abort();
    await ended;
  }
}
