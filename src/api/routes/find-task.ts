// Finds a task for its owner: in its row, or in memory if it has ended.

import type { TaskStatus } from '../../contract/vocabulary';
import { isTaskId } from '../../db/ids';
import { gatheredFindTask } from '../../db/tasks';
import { isFinal } from '../../domain/task';
import type { ApiDeps } from '../deps';
import type { Buckets } from '../limits';
import { createMemory } from '../ttl-cache';

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
  const finals = createMemory<Remembered>(deps.elapsed, rememberedMax);
  const unknown = createMemory<true>(deps.now, rememberedMax);
  // A task of another account counts too: otherwise this limit would tell it from one that does not
  // exist.
  const countUnknown = (taskId: string, { address }: Asker): undefined => {
    if (unknown.recall(taskId)) return;
    const limited = unknownLookups.take(address);
    if (limited) throw limited;
    unknown.remember(taskId, true, deps.now() + unknownForMs);
  };
  const find = async (taskId: string, asker: Asker): Promise<Found | undefined> => {
    const { accountId } = asker;
    const known = finals.recall(taskId);
    if (known) return known.accountId === accountId ? known.found : countUnknown(taskId, asker);
    if (!isTaskId(taskId)) return undefined;
    const row = await findRow(taskId);
    if (row?.accountId !== accountId) return countUnknown(taskId, asker);
    const found = { status: row.status, text: row.object };
    if (isFinal(row.status)) {
      finals.remember(taskId, { accountId, found }, deps.elapsed() + finalForMs);
    }
    return found;
  };
  return Object.assign(find, { forget: (taskId: string) => finals.forget(taskId) });
}

interface Remembered {
  readonly accountId: string;
  readonly found: Found;
}
