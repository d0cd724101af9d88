// A create with an Idempotency-Key: the task's id follows from the key, so that a call which is
// repeated finds the task of the first, whether it has a row yet or only the engine knows it.

import type { ParsedRequest } from '../contract/parse-request';
import type { TaskObject } from '../contract/task';
import { findTask } from '../db/tasks';
import { createdTask } from '../domain/task';
import type { ApiDeps } from './app';
import type { ApiCall } from './context';
import { Refused } from './context';
import {
  answerReplayed,
  type Identity,
  type Outcome,
  pendingTask,
  refuseOtherRequest,
} from './created';
import { hashOfRequest, taskIdForKey } from './task-id';
import type { UnknownStarts } from './unknown-starts';

/**
 * Starts the task and answers the call; a refusal is handed back, to be answered. The identity is
 * new where none is given.
 */
export type HandOver = (
  ctx: ApiCall,
  parsed: ParsedRequest,
  identity?: Identity,
) => Promise<Outcome>;

type Told = Outcome | typeof replayed;
const replayed = { outcome: 'replayed' } as const;

export function createOncePerKey(deps: ApiDeps, unknownStarts: UnknownStarts, handOver: HandOver) {
  return async (ctx: ApiCall, parsed: ParsedRequest, key: string): Promise<Told> => {
    const taskId = taskIdForKey(deps.settings.pepper, ctx.state.caller.accountId, key);
    ctx.state.taskId = taskId;
    // A body with faults was never accepted, so it is another body than that of any task.
    const requestHash = parsed.faults.length > 0 ? '' : hashOfRequest(parsed.request);
    const identity = { taskId, requestHash };
    // Somebody may be about to cancel this id, because nobody knew whether the first call had
    // started it.
    const takeBack = () => unknownStarts.takeBack(taskId);
    if (await replay(deps, ctx, identity, takeBack)) return replayed;
    const told = await handOver(ctx, parsed, identity);
    if (told.outcome === 'accepted' || told.outcome === 'pending') await takeBack();
    if (told.outcome !== 'refused' || !requestHash) return told;
    // A task the engine holds and no worker has confirmed has no row yet; it is found before anybody
    // is told no.
    return (await replayPending(deps, ctx, identity, takeBack)) ? replayed : told;
  };
}

export function idempotencyKeyOf(ctx: ApiCall): string | null {
  const { 'idempotency-key': key } = ctx.headers;
  if (key === undefined) return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refused({
    code: 'invalid_value',
    param: 'Idempotency-Key',
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  });
}

/**
 * True when the task exists: it is answered with its current status, or the key was used for
 * something else.
 */
async function replay(
  { db }: ApiDeps,
  ctx: ApiCall,
  { taskId, requestHash }: Identity,
  takeBack: () => Promise<void>,
): Promise<boolean> {
  const row = await findTask(db, taskId);
  if (!row) return false;
  refuseOtherRequest(row.requestHash, requestHash);
  await takeBack();
  answerReplayed(ctx, createdTask(JSON.parse(row.object) as TaskObject));
  return true;
}

/** The same for a task that has no row yet. */
async function replayPending(
  { engine }: ApiDeps,
  ctx: ApiCall,
  { taskId, requestHash }: Identity,
  takeBack: () => Promise<void>,
): Promise<boolean> {
  const task = await engine.describe(taskId);
  if (typeof task === 'string' || !task.open) return false;
  if (task.accountId !== ctx.state.caller.accountId) return false;
  refuseOtherRequest(task.requestHash, requestHash);
  await takeBack();
  answerReplayed(ctx, pendingTask(taskId));
  return true;
}
