// Answers repeated creates without an Idempotency-Key. The OpenAI clients repeat a create after a
// lost answer and count the repeats in a header. A repeat gets the task of the first attempt: the
// newest task of the same API key with an equal body whose id the caller has evidently not got.

import { assert } from '../../assert';
import { taskIdForKey } from '../../database/ids';
import { type KeyedCall, Refused } from '../../gateway/context';
import type { LookUps } from '../../gateway/look-ups';
import { countOf } from '../../gateway/retry-hints';
import { answerRepeat } from '../repeated.rows';
import { findTask } from '../tasks.rows';
import { type CreateOutcome, storedOutcome } from './answer.http';
import { idempotencyKeyOf } from './replay.http';

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
