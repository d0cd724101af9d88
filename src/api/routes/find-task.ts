// Finds a task for its owner. The task is read from its row, or from memory if this process has
// read its final state before.

import { LRUCache } from 'lru-cache';
import type { TaskStatus } from '../../contract/vocabulary';
import { isTaskId } from '../../db/ids';
import { gatheredFindTask } from '../../db/tasks';
import { isFinal } from '../../domain/task';
import type { ApiDeps } from '../deps';
import type { Buckets } from '../limits';

export interface Found {
  readonly status: TaskStatus;
  /** The public task object as JSON. */
  readonly text: string;
}

export interface FindTask {
  /** Undefined if there is no such task, or it belongs to another account. */
  (taskId: string, asker: Asker): Promise<Found | undefined>;
  /**
   * Removes a task from memory. Must be called after this process has changed the object of a final
   * task.
   */
  forget(taskId: string): void;
}

export interface Asker {
  readonly accountId: string;
  /** Look-ups of unknown tasks are limited per address. */
  readonly address: string;
}

// Up to this many final objects (about 1 KB each) are kept in memory, for five seconds. A final
// object changes only if a result is removed. Other processes show the old link until their copy
// expires.
const rememberedMax = 10_000;
const finalForMs = 5_000;
// An unknown id is cached only for a short time, because a caller may read a task while its create
// is still in progress.
const unknownForMs = 2_000;

export function createFindTask(deps: ApiDeps, unknownLookups: Buckets): FindTask {
  const findRow = gatheredFindTask(deps.db);
  const cached = { max: rememberedMax, perf: { now: deps.elapsed }, ttlResolution: 0 };
  const finals = new LRUCache<string, Remembered>({ ...cached, ttl: finalForMs });
  const unknown = new LRUCache<string, true>({ ...cached, ttl: unknownForMs });
  // The task of another account counts as unknown too. Otherwise the limit would reveal that this
  // task exists.
  const countUnknown = (taskId: string, { address }: Asker): undefined => {
    if (unknown.get(taskId)) return;
    const limited = unknownLookups.take(address);
    if (limited) throw limited;
    unknown.set(taskId, true);
  };
  const find = async (taskId: string, asker: Asker): Promise<Found | undefined> => {
    const { accountId } = asker;
    const known = finals.get(taskId);
    if (known) return known.accountId === accountId ? known.found : countUnknown(taskId, asker);
    if (!isTaskId(taskId)) return undefined;
    const row = await findRow(taskId);
    if (row?.accountId !== accountId) return countUnknown(taskId, asker);
    const found = { status: row.status, text: row.object };
    if (isFinal(row.status)) finals.set(taskId, { accountId, found });
    return found;
  };
  return Object.assign(find, { forget: (taskId: string) => void finals.delete(taskId) });
}

interface Remembered {
  readonly accountId: string;
  readonly found: Found;
}
