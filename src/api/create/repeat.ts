// Answers repeated creates without an Idempotency-Key. The OpenAI clients repeat a create after a
// lost answer and count the repeats in a header. A repeat gets the task of the first attempt: the
// newest task of the same API key with an equal body whose id the caller has evidently not got.

import { taskIdForKey } from '../../db/ids';
import { answerRepeat } from '../../db/repeated-task';
import { findTask } from '../../db/tasks';
import { assert } from '../../domain/assert';
import { type ApiCall, type KeyedCall, Refused } from '../context';
import type { LookUps } from '../look-ups';
import { type CreateOutcome, storedOutcome } from './answer';
import { idempotencyKeyOf } from './replay';

// These clients wait ten minutes for the answer to each attempt, also to one that found the task.
const attemptSeconds = 10 * 60;
const marginSeconds = 5 * 60;

type FindRepeated = (ctx: KeyedCall, hash: () => string) => Promise<CreateOutcome | null>;

/** Returns null if the call is no repeat, or if no task may answer it. */
export function createFindRepeated(lookUps: Pick<LookUps, 'task'>): FindRepeated {
  return async (ctx, hash) => {
    const repeat = repeatOf(ctx);
    if (repeat === 0) return null;
    const { accountId, keyId } = ctx.state.caller;
    const withinSeconds = repeat * attemptSeconds + marginSeconds;
    const id = await answerRepeat(ctx.state.db, {
      ...{ accountId, keyId, repeat, withinSeconds },
      requestHash: hash(),
    });
    if (id === 'running') return stillRunning();
    if (id === null) return null;
    ctx.state.taskId = id;
    const row = await lookUps.task(id);
    assert(row, `${id} has a row`);
    return storedOutcome('replayed', row);
  };
}

/** The next repeat finds the task of the first attempt. So the client is told to make it. */
function stillRunning(): Refused {
  const message = 'The first attempt of this create is still in progress. Try again shortly.';
  const headers = { 'retry-after': '1', 'x-should-retry': 'true' };
  return new Refused({ code: 'unavailable', param: '', message }, headers);
}

/** True if an earlier call has made the task of this create, or may have made it. */
export async function isRepeat(ctx: KeyedCall): Promise<boolean> {
  const key = idempotencyKeyOf(ctx);
  if (key === null) return repeatOf(ctx) > 0;
  const { db, caller } = ctx.state;
  return (await findTask(db, taskIdForKey(caller.accountId, key))) !== null;
}

/** The number of this repeat; 0 for a first attempt. */
function repeatOf(ctx: KeyedCall): number {
  const count = countOf(ctx) ?? '';
  return /^[1-9]\d?$/.test(count) ? Number(count) : 0;
}

/** True if a lost answer to this create leads to a repeat without an Idempotency-Key. */
export function mayBeRepeated(ctx: ApiCall): boolean {
  return ctx.headers['idempotency-key'] === undefined && countOf(ctx) !== undefined;
}

function countOf({ headers }: ApiCall): string | undefined {
  return headers['x-stainless-retry-count'] as string | undefined;
}
