// Finds a task for its owner, in its row.

import { LRUCache } from 'lru-cache';
import type { TaskStatus } from '../../contract/vocabulary';
import { isTaskId } from '../../db/ids';
import { gatheredFindTask } from '../../db/tasks';
import type { ApiDeps } from '../deps';
import type { Buckets } from '../limits';

export interface Found {
  readonly status: TaskStatus;
  /** The public task object as JSON. */
  readonly text: string;
}

/** Returns undefined if there is no such task, or it belongs to another account. */
export type FindTask = (taskId: string, asker: Asker) => Promise<Found | undefined>;

export interface Asker {
  readonly accountId: string;
  /** Look-ups of unknown tasks are limited per address. */
  readonly address: string;
}

const unknownMax = 10_000;
// An unknown id is cached only for a short time, because a caller may read a task while its create
// is still in progress.
const unknownForMs = 2_000;

export function createFindTask(deps: ApiDeps, unknownLookups: Buckets): FindTask {
  const findRow = gatheredFindTask(deps.db);
  const unknown = new LRUCache<string, true>({
    max: unknownMax,
    ttl: unknownForMs,
    perf: { now: deps.elapsed },
    ttlResolution: 0,
  });
  // The task of another account counts as unknown too. Otherwise the limit would reveal that this
  // task exists.
  const countUnknown = (taskId: string, { address }: Asker): undefined => {
    if (unknown.get(taskId)) return;
    const limited = unknownLookups.take(address);
    if (limited) throw limited;
    unknown.set(taskId, true);
  };
  return async (taskId, asker) => {
    if (!isTaskId(taskId)) return undefined;
    const row = await findRow(taskId);
    if (row?.accountId !== asker.accountId) return countUnknown(taskId, asker);
    return { status: row.status, text: row.object };
  };
}
