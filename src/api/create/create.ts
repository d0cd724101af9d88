// Handles POST of a task: reads and parses the body, then replays or plans, stores and starts the
// task. The order of the checks is part of the contract. A repeated call is answered before the
// create limit, prices and permissions are checked.

import type { ParsedRequest } from '../../contract/parse-request';
import { newTaskId, taskIdForKey } from '../../db/ids';
import type { AtOnce } from '../at-once';
import { type KeyedCall, Refused } from '../context';
import type { ApiDeps } from '../deps';
import { createCallerLimit, showLimit } from '../limits';
import { createAccept } from './accept';
import { answerCreate, type CreateOutcome } from './answer';
import { planForCaller } from './plan-request';
import { readRequest } from './read-request';
import { createReplay, idempotencyKeyOf } from './replay';
import { hashOfRequest } from './request-hash';

export function createTask(deps: ApiDeps, atOnce: AtOnce): (ctx: KeyedCall) => Promise<void> {
  const { settings, now } = deps;
  const rateLimit = createCallerLimit('createRate', {
    what: 'create',
    perSecond: settings.createRatePerSecond,
    burst: settings.createBurst,
    elapsed: deps.elapsed,
  });
  const replay = createReplay(deps);
  const accept = createAccept(deps, replay, atOnce);

  const create = async (
    ctx: KeyedCall,
    parsed: ParsedRequest,
    keyedId: string | null,
  ): Promise<CreateOutcome> => {
    const { caller, traceId } = ctx.state;
    const limited = rateLimit.take(caller);
    if (limited) return limited;
    showLimit(ctx, rateLimit.headersOf(caller));
    const { plan, refusal } = await planForCaller(parsed, deps, caller);
    if (!plan) return new Refused(refusal);
    const taskId = keyedId ?? newTaskId(now());
    ctx.state.taskId = taskId;
    const { request } = parsed;
    const { accountId, keyId } = caller;
    const requestHash = hashOfRequest(request);
    return accept(ctx, { taskId, accountId, keyId, request, plan, requestHash, traceId });
  };

  return async (ctx) => {
    const parsed = await readRequest(ctx);
    const key = idempotencyKeyOf(ctx);
    const { accountId } = ctx.state.caller;
    const keyedId = key ? taskIdForKey(accountId, key) : null;
    if (keyedId) ctx.state.taskId = keyedId;
    const replayed = keyedId ? await replay.find(keyedId, parsed) : null;
    answerCreate(ctx, replayed ?? (await create(ctx, parsed, keyedId)));
  };
}
