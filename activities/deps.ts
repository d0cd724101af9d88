// What activities depend on. A worker composes these parts once. Each function names the parts that
// it uses.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import type { Config } from '../src/config/config';
import type { Storage } from '../src/files/storage/storage';
import type { TaskInput } from '../src/tasks/task-transactions.rules';
import type { CallbackInput } from '../workflows/messages';
import type { HostShare } from './callbacks/per-host-limit';
import type { ActivityEvents } from './events';
import type { Channels } from './providers/channels';

export interface WorkerDeps {
  readonly db: Knex;
  readonly client: Client;
  readonly channels: Channels;
  readonly storage: Storage;
  readonly events: ActivityEvents;
  readonly now: () => number;
  /** Aborted when this worker begins to stop, so that another worker takes over without delay. */
  readonly stopping: AbortSignal;
  /**
   * Starts the workflow of a task. Returns false if a workflow of this task has already completed.
   */
  readonly startTask: (input: TaskInput) => Promise<boolean>;
  /** Starts the delivery of a callback. Does nothing if the delivery is already running. */
  readonly startDelivery: (input: CallbackInput) => Promise<void>;
  /** Starts the missing watchers of the channels in the catalogue and of the given channels. */
  readonly ensureWatchers: (channels: readonly string[]) => Promise<void>;
  /** The limit of messages at the same time, for callbacks and alerts together. */
  readonly hostShare: HostShare;
  readonly settings: ActivitySettings;
}

/** The part of the config that activities read, and what is derived from it. */
export type ActivitySettings = Pick<
  Config,
  | 'publicUrl'
  | 'dangerouslyAllowHosts'
  | 'dangerouslyAllowProviderHosts'
  | 'filesKeptDays'
  | 'tasksKeptDays'
  | 'reportsTimeZone'
> & {
  /**
   * The maximum of concurrent deliveries to one host, in this process. For one account the maximum
   * is twice as high.
   */
  readonly callbacksPerHostMax: number;
  /** The maximum of tasks whose results are copied at the same time, in this process. */
  readonly copiesAtOnceMax: number;
};
