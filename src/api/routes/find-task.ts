// Finds a task for its owner: from memory if it has ended, from its row while it is pending, else
// the later state of its row and its workflow's query. So no read shows an older state than a read
// before.

import type { TaskStatus } from '../../contract/vocabulary';
import { isTaskId } from '../../db/ids';
import { gatheredFindTask, type StoredTask } from '../../db/tasks';
import { isFinal, stepOf } from '../../domain/task';
import { Refused } from '../context';
import type { ApiDeps } from '../deps';
import type { Buckets } from '../limits';
import { createMemory } from '../ttl-cache';

export interface Found {
  readonly status: TaskStatus;
  readonly step: number;
  /** The public task object as JSON. */
  readonly text: string;
  readonly by: 'row' | 'workflow' | 'memory';
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
    if (limited) throw new Refused(limited.refusal, limited.headers);
    unknown.remember(taskId, true, deps.now() + unknownForMs);
  };
  const find = async (taskId: string, asker: Asker): Promise<Found | undefined> => {
    const { accountId } = asker;
    const known = finals.recall(taskId);
    if (known) return known.accountId === accountId ? known.found : countUnknown(taskId, asker);
    if (!isTaskId(taskId)) return undefined;
    const row = await findRow(taskId);
    if (row?.accountId !== accountId) return countUnknown(taskId, asker);
    // A pending row decides, since its workflow already shows the state that it is about to store.
    if (row.status === 'pending') return fromRow(row);
    if (!isFinal(row.status)) return furtherOf(deps, row);
    const found = fromRow(row);
    const remembered = { accountId, found: { ...found, by: 'memory' as const } };
    finals.remember(taskId, remembered, deps.elapsed() + finalForMs);
    return found;
  };
  return Object.assign(find, { forget: (taskId: string) => finals.forget(taskId) });
}

interface Remembered {
  readonly accountId: string;
  readonly found: Found;
}

/** The later of the stored state and the workflow's own answer. */
async function furtherOf({ temporal }: ApiDeps, row: StoredTask): Promise<Found> {
  const live = await temporal.query(row.id, row.version);
  if (live && stepOf(live) > row.version) {
    return { status: live.status, step: stepOf(live), text: JSON.stringify(live), by: 'workflow' };
  }
  return { ...fromRow(row), by: live ? 'workflow' : 'row' };
}

function fromRow(row: StoredTask): Found {
  return { status: row.status, step: row.version, text: row.object, by: 'row' };
}
