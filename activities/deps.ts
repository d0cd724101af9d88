// The dependencies of the activities that handle jobs.

import type { Knex } from 'knex';
import type { ActivityEvents } from './events';
import type { Channels } from './upstream/channels';

export interface JobDeps {
  readonly db: Knex;
  readonly channels: Channels;
  readonly events: ActivityEvents;
  readonly now: () => number;
}
