// Finds a task for its owner: in its row, or in memory if it has ended.

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
  /** Call it after this process has changed the object of a final task. */
  forget(taskId: string): void;
}

export interface Asker {
  readonly accountId: string;
  /** Look-ups of unknown tasks are limited per address. */
  readonly address: string;
}

// Up to this many final objects (about 1 KB each) are kept. They change only when a result is removed,
// and then other processes show its old link for this long at most.
const rememberedMax = 10_000;
const finalForMs = 5_000;
// Short, because the create of a task may still be in progress when it is first read.
const unknownForMs = 2_000;

export function createFindTask(deps: ApiDeps, unknownLookups: Buckets): FindTask {
  const findRow = gatheredFindTask(deps.db);
  const cached = { max: rememberedMax, perf: { now: deps.elapsed }, ttlResolution: 0 };
  const finals = new LRUCache<string, Remembered>({ ...cached, ttl: finalForMs });
  const unknown = new LRUCache<string, true>({ ...cached, ttl: unknownForMs });
  // A task of another account counts too: otherwise this limit would tell it from one that does not
  // exist.
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
