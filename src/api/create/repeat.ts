// Answers repeated creates without an Idempotency-Key. The OpenAI clients repeat a create after a
// lost answer and count the repeats in a header. A repeat gets the task of the first attempt: the
// newest task of the same API key with an equal body.

import { taskIdForKey } from '../../db/ids';
import { findRepeated } from '../../db/repeated-task';
import { findTask } from '../../db/tasks';
import type { KeyedCall } from '../context';
import type { ApiDeps } from '../deps';
import type { CreateOutcome } from './answer';
import { idempotencyKeyOf, type Replay } from './replay';

// These clients wait ten minutes for an answer. A first attempt may be that much older than its
// repeat.
const repeatedWithinSeconds = 15 * 60;

type FindRepeated = (ctx: KeyedCall, hash: () => string) => Promise<CreateOutcome | null>;

/** Returns null if the call is no repeat, or if its first attempt stored no task. */
export function createFindRepeated({ db }: ApiDeps, replay: Replay): FindRepeated {
  return async (ctx, hash) => {
    if (!isCountedRepeat(ctx)) return null;
    const { accountId, keyId } = ctx.state.caller;
    const withinSeconds = repeatedWithinSeconds;
    const requestHash = hash();
    const row = await findRepeated(db, { accountId, keyId, requestHash, withinSeconds });
    if (!row) return null;
    ctx.state.taskId = row.id;
    return replay.of(row, requestHash);
  };
}

/** True if an earlier call has made the task of this create, or may have made it. */
export async function isRepeat({ db }: Pick<ApiDeps, 'db'>, ctx: KeyedCall): Promise<boolean> {
  const key = idempotencyKeyOf(ctx);
  if (key === null) return isCountedRepeat(ctx);
  return (await findTask(db, taskIdForKey(ctx.state.caller.accountId, key))) !== null;
}

const isCountedRepeat = (ctx: KeyedCall) => /^[1-9]\d?$/.test(countOf(ctx) ?? '');

/** True if a lost answer to this create leads to a repeat without an Idempotency-Key. */
export function mayBeRepeated(ctx: KeyedCall): boolean {
  return ctx.headers['idempotency-key'] === undefined && countOf(ctx) !== undefined;
}

function countOf({ headers }: KeyedCall): string | undefined {
  return headers['x-stainless-retry-count'] as string | undefined;
}
