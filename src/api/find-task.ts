// Where a task stands, for its owner: remembered when it has ended, else the further of its row and
// its workflow's own answer, so that no two reads ever step back; from the engine while it has no
// row yet.

import type { TaskObject } from '../contract/task';
import type { TaskStatus } from '../contract/vocabulary';
import { findTask, gatheredFindTask, type StoredTask } from '../db/tasks';
import { isFinal, stepOf, taskObject } from '../domain/task';
import type { ApiDeps } from './app';
import { Refused } from './context';
import { unavailable } from './errors';
import { createMemory } from './memory';
import { isTaskId } from './task-id';

export interface Found {
  readonly status: TaskStatus;
  readonly step: number;
  /** The public object, as JSON. */
  readonly text: string;
  readonly by: 'row' | 'workflow' | 'engine' | 'memory';
}

/** Undefined when there is no such task, and when it is somebody else's. */
export type FindTask = (taskId: string, accountId: string) => Promise<Found | undefined>;

// Final objects never change; this many of about 1 KB are remembered, the oldest forgotten first.
const rememberedMax = 10_000;
// A task without a row stays pending until it has one, and its row is looked for each time. The
// engine is asked anew this much later: tasks pile up there when it is slow, and to be asked by all
// their pollers would make it slower.
const pendingForMs = 10_000;

export function createFindTask(deps: ApiDeps): FindTask {
  const findRow = gatheredFindTask(deps.db);
  const finals = createMemory<Remembered>(deps.now, rememberedMax);
  const pending = createMemory<Remembered>(deps.now, rememberedMax);
  return async (taskId, accountId) => {
    const known = finals.recall(taskId);
    if (known) return known.accountId === accountId ? known.found : undefined;
    if (!isTaskId(taskId)) return undefined;
    const row = await findRow(taskId);
    if (!row) {
      const waiting = pending.recall(taskId);
      if (waiting?.accountId === accountId) return waiting.found;
      const found = await findPending(deps, taskId, accountId);
      if (found?.status === 'pending') {
        pending.remember(taskId, { accountId, found }, deps.now() + pendingForMs);
      }
      return found;
    }
    if (row.accountId !== accountId) return undefined;
    if (!isFinal(row.status)) return furtherOf(deps, row);
    const found = fromRow(row);
    finals.remember(
      taskId,
      { accountId, found: { ...found, by: 'memory' } },
      Number.POSITIVE_INFINITY,
    );
    return found;
  };
}

interface Remembered {
  readonly accountId: string;
  readonly found: Found;
}

/** The further of what is stored and what the live task says itself. */
async function furtherOf({ engine }: ApiDeps, row: StoredTask): Promise<Found> {
  const live = await engine.query(row.id, row.version);
  if (live && stepOf(live) > row.version) {
    return { status: live.status, step: stepOf(live), text: JSON.stringify(live), by: 'workflow' };
  }
  return { ...fromRow(row), by: live ? 'workflow' : 'row' };
}

function fromRow(row: StoredTask): Found {
  return { status: row.status, step: row.version, text: row.object, by: 'row' };
}

/**
 * No row yet: the engine may hold a task that no worker has confirmed. Its memo says whose it is.
 */
async function findPending(
  { db, engine }: ApiDeps,
  taskId: string,
  accountId: string,
): Promise<Found | undefined> {
  const task = await engine.describe(taskId);
  if (task === 'unavailable') throw new Refused(unavailable, { 'retry-after': '2' });
  if (task === 'unknown' || task.accountId !== accountId) return undefined;
  if (!task.open) {
    // It ended since the row was looked for: refused, or confirmed and done in between.
    const row = await findTask(db, taskId);
    return row?.accountId === accountId ? fromRow(row) : undefined;
  }
  const object: TaskObject = taskObject(
    {
      id: taskId,
      traceId: task.traceId,
      model: task.model,
      createdAt: Math.floor(task.startedAtMs / 1000),
    },
    { status: 'pending' },
  );
  return { status: 'pending', step: 0, text: JSON.stringify(object), by: 'engine' };
}
