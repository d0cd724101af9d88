// Finds a task for its owner, in its row, and asks the workflow of a live task what it is doing.

import { LRUCache } from 'lru-cache';
import type { TaskObject } from '../../contract/task';
import type { TaskStatus } from '../../contract/vocabulary';
import { isTaskId } from '../../db/ids';
import { gatheredFindTask } from '../../db/tasks';
import { isFinal, stepOf } from '../../domain/task';
import type { TemporalClient } from '../../temporal/client';
import type { ApiDeps } from '../deps';
import type { Buckets } from '../limits';

export interface Found {
  readonly status: TaskStatus;
  /** The public task object as JSON. */
  readonly text: string;
  readonly answeredBy?: 'workflow';
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

export function createFindTask(
  deps: Pick<ApiDeps, 'db' | 'elapsed'>,
  unknownLookups: Buckets,
): FindTask {
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

/**
 * Returns a function that lets the workflow of a live task answer instead of its row. The workflow
 * answers only if it is at the step of the row. It may be a step behind the row or ahead of it, but
 * each read shows a step that is committed, so no read shows an earlier step than a read before it.
 */
export function createAskWorkflow({ ask }: Pick<TemporalClient, 'ask'>, find: FindTask) {
  return async (row: Found, taskId: string, asker: Asker): Promise<Found | undefined> => {
    if (isFinal(row.status) || row.status === 'pending') return row;
    const told = await ask(taskId);
    if (!told) return row;
    const toldStep = stepOf(told);
    // The row may have moved on while the workflow answered.
    const current = toldStep > stepIn(row) ? await find(taskId, asker) : row;
    if (!current || isFinal(current.status) || stepIn(current) !== toldStep) return current;
    return { status: told.status, text: JSON.stringify(told), answeredBy: 'workflow' };
  };
}

function stepIn({ text }: Found): number {
  return stepOf(JSON.parse(text) as TaskObject);
}
