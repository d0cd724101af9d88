// Starts missing watchers of channels that have jobs. If a watcher has recorded no round for a
// minute, the watcher is only reported. A restart is not needed, because Temporal moves the watcher
// to another worker after the heartbeat timeout.

import type { Knex } from 'knex';
import { listChannelsInUse, listUnwatched } from '../../src/db/watchers';
import type { ActivityEvents } from '../events';

export interface ChannelDeps {
  readonly db: Knex;
  readonly events: ActivityEvents;
  readonly ensureWatchers: (channels: readonly string[]) => Promise<void>;
}

const quietSeconds = 60;

export async function watchUsedChannels({
  db,
  events,
  ensureWatchers,
}: ChannelDeps): Promise<void> {
  await ensureWatchers(await listChannelsInUse(db));
  for (const channel of await listUnwatched(db, quietSeconds)) {
    events.finding('unwatched', '', channel);
  }
}
