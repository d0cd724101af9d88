// POST: read, parse, replay, plan, refuse what can be refused, hand over. The order of the checks
// is part of the contract: a paid task that is asked for again is answered before anybody looks at
// prices, permissions or balances.

import { parseRequest } from '../contract/parse-request';
import type { TaskObject } from '../contract/task';
import { createdTask } from '../domain/task';
import type { ApiDeps } from './app';
import { bodyBytesMax, readJsonBody } from './body';
import { createFundsCheck } from './check-funds';
import type { ApiCall } from './context';
import { denied, refuse } from './context';
import { createOncePerKey, type HandOver, idempotencyKeyOf } from './create-once';
import { answerSubmission, type Outcome } from './created';
import { limitInFlight, sharingSubmissions } from './in-flight';
import { planForCaller } from './plan-request';
import { createRateLimit } from './rate-limit';
import { hashOfRequest, newTaskId } from './task-id';
import { createUnknownStarts, type UnknownStarts } from './unknown-starts';

export function createTask(deps: ApiDeps): (ctx: ApiCall) => Promise<void> {
  const unknownStarts = createUnknownStarts(deps.db, deps.engine, (error) => {
    deps.observer.failed(error, 'an unknown start');
  });
  const handOver = handingOver(deps, unknownStarts);
  const createOnce = createOncePerKey(deps, unknownStarts, handOver);
  return async (ctx) => {
    const parsed = parseRequest(await readJsonBody(ctx.req, bodyBytesMax));
    const key = idempotencyKeyOf(ctx);
    const told = key ? await createOnce(ctx, parsed, key) : await handOver(ctx, parsed);
    if (told.outcome === 'refused') refuse(ctx, told.refusal, told.headers);
  };
}

/** What has to be good before a task may be, and the task's start. */
function handingOver(deps: ApiDeps, unknownStarts: UnknownStarts): HandOver {
  const { settings, now } = deps;
  const rateLimit = createRateLimit({
    perSecond: settings.createRatePerSecond,
    burst: settings.createBurst,
    now,
  });
  const checkFunds = createFundsCheck(deps);
  const submit = sharingSubmissions(deps.engine);
  const inFlight = limitInFlight(settings.createsInFlightPerAccountMax, now);

  return async (ctx, parsed, identity) => {
    const { caller, traceId } = ctx.state;
    const { accountId, keyId } = caller;
    const limited = rateLimit.take(keyId);
    if (limited) return limited;
    const { plan, refusal } = planForCaller(parsed, deps, caller);
    if (!plan) return denied(refusal);
    const { request } = parsed;
    const { taskId, requestHash } = identity ?? {
      taskId: newTaskId(now()),
      requestHash: hashOfRequest(request),
    };
    ctx.state.taskId = taskId;
    const answered = await inFlight.during(accountId, async (underWay) => {
      const short = await checkFunds(accountId, plan.hold.amountMicros, underWay);
      if (short) return short;
      const startMs = now();
      const waits = 'in activities';
      const answer = await submit({
        taskId,
        accountId,
        request,
        plan,
        requestHash,
        traceId,
        waits,
      });
      ctx.state.submission = { startMs, endMs: now() };
      return answer;
    });
    const start = { taskId, isFirst: identity === undefined };
    const outcome = await whatTheRowSays(unknownStarts, start, answered);
    if (outcome.outcome !== 'refused') answerSubmission(ctx, { taskId, requestHash }, outcome);
    return outcome;
  };
}

/**
 * Where the engine did not say whether it took the task, its row may. Under a key the task may be
 * that of an earlier call, for which a note of this one cannot speak.
 */
async function whatTheRowSays(
  unknownStarts: UnknownStarts,
  { taskId, isFirst }: { readonly taskId: string; readonly isFirst: boolean },
  outcome: Outcome,
): Promise<Outcome> {
  if (outcome.outcome !== 'unavailable' || outcome.certain) return outcome;
  const found = await unknownStarts.begin(taskId, outcome.nonce);
  if (found === 'noted' && isFirst) return { ...outcome, isFree: true };
  if (found === 'noted' || found === 'not noted') return outcome;
  const { object, requestHash } = found;
  const created = createdTask(JSON.parse(object) as TaskObject);
  return { outcome: 'accepted', accepted: { task: created, requestHash } };
}
