// Finds a task for its owner, in its row, and asks the workflow of a live task what it is doing.

import { LRUCache } from 'lru-cache';
import { assert } from '../assert';
import type { TaskObject } from '../contract/task';
import type { TaskStatus } from '../contract/vocabulary';
import { isTaskId } from '../database/ids';
import type { TemporalClient } from '../engine/client';
import type { Asker } from '../gateway/auth';
import type { Buckets } from '../gateway/limits';
import type { LookUps } from '../gateway/look-ups';
import { endRepeats } from './repeated.rows';
import { isLater, liveObject } from './task.rules';
import type { Asked, Live } from './tasks.rows';

export interface Found {
  readonly status: TaskStatus;
  /** The public task object as JSON. */
  readonly text: string;
  /** Null once the task is final. */
  readonly live: Live | null;
  readonly answeredBy?: 'workflow';
  readonly asked?: Asked;
  /** The API key whose repeated create would get this task. */
  readonly repeatedBy: string | null;
}

/** Returns undefined if there is no such task, or it belongs to another account. */
export type FindTask = (
  taskId: string,
  asker: Asker,
  withAsked?: boolean,
) => Promise<Found | undefined>;

export interface AskedTask {
  readonly task: TaskObject;
  readonly asked: Asked;
}

/** A task whose row was read with what its caller asked for. */
export function askedTask(text: string, asked: Asked | undefined): AskedTask {
  assert(asked, 'the statement has read it');
  return { task: JSON.parse(text) as TaskObject, asked };
}

const unknownMax = 10_000;
// An unknown id is cached only for a short time, because a caller may read a task while its create
// is still in progress.
const unknownForMs = 2_000;

export function createFindTask(
  lookUps: Pick<LookUps, 'task' | 'askedTask'>,
  unknownLookups: Buckets,
  elapsed: () => number,
): FindTask {
  const unknown = new LRUCache<string, true>({
    max: unknownMax,
    ttl: unknownForMs,
    perf: { now: elapsed },
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
  return async (taskId, asker, withAsked = false) => {
    if (!isTaskId(taskId)) return undefined;
    const row = await (withAsked ? lookUps.askedTask : lookUps.task)(taskId);
    if (row?.accountId !== asker.accountId) return countUnknown(taskId, asker);
    const { status, object: text, live, asked, repeatedBy } = row;
    return { status, text, live, repeatedBy, ...(asked ? { asked } : {}) };
  };
}

/**
 * Like `find`, for calls that name the task: from now on the caller has its id, so the task answers no
 * more repeats. Only the first of these calls writes.
 */
export function createFindNamed(find: FindTask): FindTask {
  return async (taskId, asker, withAsked) => {
    const found = await find(taskId, asker, withAsked);
    if (found && found.repeatedBy === asker.keyId) await endRepeats(asker.db, [taskId]);
    return found;
  };
}

// The tasks that a process remembers as live.
const liveMax = 1_000;

/**
 * Answers a read of a live task with the later of two stages: that of its row, and that of its
 * workflow, which also says what it is doing. The workflow tells no stage that is not committed, and
 * each read also reads the row, so no read shows less than a read before it.
 */
export function createWorkflowReads({ ask }: Pick<TemporalClient, 'ask'>) {
  // The owners of live tasks. Without the row, only these tasks are known to have a workflow that
  // runs, and to belong to who asks.
  const owners = new LRUCache<string, string>({ max: liveMax });
  return {
    /** Asks while the row is read, if the last read showed the asker that the task is live. */
    askAhead(taskId: string, { accountId }: Asker): void {
      if (owners.get(taskId) === accountId) void ask(taskId);
    },
    async withWorkflow(row: Found, taskId: string, { accountId }: Asker): Promise<Found> {
      const { live } = row;
      // A pending task may have no workflow yet.
      if (!live || live.stage === 'accepted') {
        owners.delete(taskId);
        return row;
      }
      owners.set(taskId, accountId);
      const told = await ask(taskId);
      if (!told || isLater(live.stage, told.stage)) return row;
      const object = liveObject(live.task, told.stage, told.message);
      return {
        ...row,
        status: object.status,
        text: JSON.stringify(object),
        answeredBy: 'workflow',
      };
    },
  };
}
