// Starts missing watchers of channels that are in the catalogue or have jobs. If a watcher has
// recorded no round for a minute, the watcher is only reported. A restart is not needed, because
// Temporal moves the watcher to another worker after the heartbeat timeout. The report comes first:
// Temporal may be what does not answer.

import { listChannelsInUse, listUnwatched } from '../../src/jobs/watchers.rows';
import type { WorkerDeps } from '../deps';

const quietSeconds = 60;

export async function watchUsedChannels({
  db,
  events,
  ensureWatchers,
}: Pick<WorkerDeps, 'db' | 'events' | 'ensureWatchers'>): Promise<void> {
  for (const channel of await listUnwatched(db, quietSeconds)) {
    events.finding('unwatched', '', channel);
  }
  await ensureWatchers(await listChannelsInUse(db));
}
