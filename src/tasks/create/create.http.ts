// Creates a task from a parsed request: replays the first call, or plans, stores and starts the task.
// The order of the checks is part of the contract. A repeated call is answered before the create
// limit, prices and permissions are checked.

import type { ParsedRequest } from '../../contract/parse-request';
import type { VideoRequest } from '../../contract/request';
import { newTaskId, taskIdForKey } from '../../database/ids';
import { type KeyedCall, Refused } from '../../gateway/context';
import type { KeyedDeps } from '../../gateway/deps';
import { createCallerLimit, showLimit } from '../../gateway/limits';
import type { LookUps } from '../../gateway/look-ups';
import { createAccept } from './accept.http';
import type { CreateOutcome } from './answer.http';
import { planForCaller } from './plan-request.http';
import { createFindRepeated } from './repeat.http';
import { createReplay, idempotencyKeyOf } from './replay.http';
import { hashOfRequest } from './request-hash';

/**
 * Every way to create a task is this function. `compared` is the request that a repeated call is
 * compared with, if it differs from the parsed request.
 */
export type Create = (
  ctx: KeyedCall,
  parsed: ParsedRequest,
  compared?: VideoRequest,
) => Promise<CreateOutcome>;

export function createTask(deps: KeyedDeps, lookUps: LookUps): Create {
  const { limits, now } = deps;
  const rateLimit = createCallerLimit('creates', limits, deps.elapsed, {
    ofKey: ({ rates }) => rates.createRate,
    ofAccount: ({ accountRates }) => accountRates.createRate,
  });
  const replay = createReplay(lookUps);
  const findRepeated = createFindRepeated(lookUps);
  const accept = createAccept(deps, replay);

  const create = async (
    ctx: KeyedCall,
    parsed: ParsedRequest,
    keyedId: string | null,
    hash: () => string,
  ): Promise<CreateOutcome> => {
    const { caller, traceId } = ctx.state;
    const limited = rateLimit.take(caller);
    if (limited) return limited;
    showLimit(ctx, rateLimit.headersOf(caller));
    const plan = await planForCaller(parsed, deps, ctx.state);
    if (plan instanceof Refused) return plan;
    const taskId = keyedId ?? newTaskId(now());
    ctx.state.taskId = taskId;
    const { request } = parsed;
    const { accountId, keyId } = caller;
    const requestHash = hash();
    return accept(ctx, { taskId, accountId, keyId, request, plan, requestHash, traceId });
  };

  return async (ctx, parsed, compared = parsed.request) => {
    const key = idempotencyKeyOf(ctx);
    const { accountId } = ctx.state.caller;
    const keyedId = key ? taskIdForKey(accountId, key) : null;
    if (keyedId) ctx.state.taskId = keyedId;
    // A refused create needs no hash, which would take a tenth of the time of its reply.
    const hash = () => hashOfRequest(compared);
    const replayed = keyedId
      ? await replay.find(keyedId, parsed.faults, hash)
      : // A body with faults was never accepted, so it is no repeat of an accepted one.
        parsed.faults.length === 0 && (await findRepeated(ctx, hash));
    return replayed || (await create(ctx, parsed, keyedId, hash));
  };
}
