// POST: read, parse, replay, plan, refuse what can be refused, hand over. The order of the checks is part of the
// contract: a paid task that is asked for again is answered before anybody looks at prices, permissions or balances.

import type { Knex } from 'knex';
import type { TaskInput } from '../../workflows/messages';
import { type ParsedRequest, parseRequest } from '../contract/parse-request';
import type { CreatedTask, TaskObject } from '../contract/task';
import { findFunds, insufficientBalance } from '../db/funds';
import { findTask } from '../db/tasks';
import type { Plan } from '../domain/plan-types';
import { createdTask, statusMessages } from '../domain/task';
import type { Engine, Submission } from '../temporal';
import type { ApiDeps } from './app';
import { bodyBytesMax, readJsonBody } from './body';
import type { ApiCall, Caller } from './context';
import { Refused } from './context';
import { countInFlight, sharingSubmissions } from './in-flight';
import { planForCaller } from './plan-request';
import { createRateLimit, limitHeaders, rateLimited } from './rate-limit';
import { hashOfRequest, newTaskId, taskIdForKey } from './task-id';
import { createUnknownStarts } from './unknown-starts';

export function createTask(deps: ApiDeps): (ctx: ApiCall) => Promise<void> {
  const { settings, now } = deps;
  const rateLimit = createRateLimit({
    perSecond: settings.createRatePerSecond,
    burst: settings.createBurst,
    now,
  });
  const submit = sharingSubmissions(deps.engine);
  const unknownStarts = createUnknownStarts(deps.db, deps.engine, (error) => {
    deps.observer.failed(error, 'an unknown start');
  });
  const inFlight = countInFlight(settings.createsInFlightPerAccountMax);

  /** What has to be good before a task may be, and the task's start; `identity` is new where none is given. */
  const handOver = async (
    ctx: ApiCall,
    parsed: ParsedRequest,
    identity?: Identity,
  ): Promise<Submission> => {
    const { caller, traceId } = ctx.state;
    const { accountId, keyId } = caller;
    const limited = rateLimit.take(keyId);
    if (limited) throw new Refused(limited.refusal, limited.headers);
    const plan = planForCaller(parsed, deps, caller);
    const { request } = parsed;
    const { taskId, requestHash } = identity ?? {
      taskId: newTaskId(now()),
      requestHash: hashOfRequest(request),
    };
    ctx.state.taskId = taskId;
    const submission = await inFlight.during(accountId, async (underWay) => {
      await checkFunds(deps, caller, plan, underWay);
      const startMs = now();
      const answered = await submit({ taskId, accountId, request, plan, requestHash, traceId });
      ctx.state.submission = { startMs, endMs: now() };
      return answered;
    });
    if (submission.outcome === 'unavailable' && !submission.certain) {
      unknownStarts.begin(taskId, submission.nonce);
    }
    answer(ctx, taskId, requestHash, submission);
    return submission;
  };

  /** The id follows from the key, so that a call which is repeated finds the task of the first. */
  const createOnce = async (ctx: ApiCall, parsed: ParsedRequest, key: string): Promise<void> => {
    const { accountId } = ctx.state.caller;
    const taskId = taskIdForKey(settings.pepper, accountId, key);
    ctx.state.taskId = taskId;
    // A body with faults was never accepted, so it is another body than that of any task.
    const requestHash = parsed.faults.length > 0 ? '' : hashOfRequest(parsed.request);
    // Somebody may be about to cancel this id, because nobody knew whether the first call had started it.
    const takeBack = () => unknownStarts.takeBack(taskId);
    if (await replay(deps.db, ctx, taskId, requestHash, takeBack)) return;
    try {
      const { outcome } = await handOver(ctx, parsed, { taskId, requestHash });
      if (outcome === 'accepted' || outcome === 'pending') await takeBack();
    } catch (error) {
      if (!requestHash || !isRefusedByRules(error)) throw error;
      // A task the engine holds and no worker has confirmed has no row yet; it is found before anybody is told no.
      const known = { taskId, accountId, requestHash };
      if (!(await replayPending(deps.engine, ctx, known, takeBack))) throw error;
    }
  };

  return async (ctx) => {
    const parsed = parseRequest(await readJsonBody(ctx.req, bodyBytesMax));
    const key = idempotencyKeyOf(ctx);
    if (key) await createOnce(ctx, parsed, key);
    else await handOver(ctx, parsed);
  };
}

interface Identity {
  readonly taskId: string;
  readonly requestHash: string;
}

/** The obvious cases, before a workflow is started; the door decides for real. */
async function checkFunds(
  { db, settings }: ApiDeps,
  caller: Caller,
  plan: Plan,
  underWay: number,
): Promise<void> {
  const { availableMicros, openTasks } = await findFunds(db, caller.accountId);
  const needed = plan.hold.amountMicros;
  if (availableMicros < needed) throw new Refused(insufficientBalance(needed, availableMicros));
  // Those under way beside this one will be open in a moment.
  if (openTasks + underWay - 1 < settings.unfinishedTasksMax) return;
  throw new Refused(
    rateLimited(`This account has ${openTasks} unfinished tasks, as many as it may have.`),
    limitHeaders(settings.unfinishedTasksMax, 10),
  );
}

/** True when the task exists: it is answered with its current status, or the key was used for something else. */
async function replay(
  db: Knex,
  ctx: ApiCall,
  taskId: string,
  requestHash: string,
  takeBack: () => Promise<void>,
): Promise<boolean> {
  const row = await findTask(db, taskId);
  if (!row) return false;
  refuseOtherRequest(row.requestHash, requestHash);
  await takeBack();
  ctx.set('Idempotent-Replayed', 'true');
  answerCreated(ctx, createdTask(JSON.parse(row.object) as TaskObject));
  return true;
}

/** The same for a task that has no row yet. */
async function replayPending(
  engine: Engine,
  ctx: ApiCall,
  { taskId, accountId, requestHash }: Pick<TaskInput, 'taskId' | 'accountId' | 'requestHash'>,
  takeBack: () => Promise<void>,
): Promise<boolean> {
  const task = await engine.describe(taskId);
  if (typeof task === 'string' || !task.open || task.accountId !== accountId) return false;
  refuseOtherRequest(task.requestHash, requestHash);
  await takeBack();
  ctx.set('Idempotent-Replayed', 'true');
  answerCreated(ctx, pendingTask(taskId));
  return true;
}

/** Refused by prices, permissions or limits, and not because the engine could not say. */
function isRefusedByRules(error: unknown): boolean {
  if (!(error instanceof Refused)) return false;
  const { code } = error.refusal;
  return code !== 'unavailable' && code !== 'idempotency_key_reused';
}

function answer(ctx: ApiCall, taskId: string, requestHash: string, submission: Submission): void {
  switch (submission.outcome) {
    case 'accepted':
      refuseOtherRequest(submission.accepted.requestHash, requestHash);
      answerCreated(ctx, submission.accepted.task);
      return;
    case 'pending':
      refuseOtherRequest(submission.requestHash, requestHash);
      answerCreated(ctx, pendingTask(taskId));
      return;
    case 'refused':
      throw new Refused(submission.refusal);
    case 'unavailable':
      throw new Refused(
        { code: 'unavailable', param: '', message: unavailableSentence(submission.certain) },
        { 'retry-after': '5', ...(submission.certain ? {} : { location: locationOf(taskId) }) },
      );
  }
}

function pendingTask(taskId: string): CreatedTask {
  return {
    id: taskId,
    task_id: taskId,
    object: 'video.generation.task',
    status: 'pending',
    message: statusMessages.pending,
  };
}

function unavailableSentence(certain: boolean): string {
  return certain
    ? 'The task was not accepted: the service cannot take tasks at the moment. Try again shortly.'
    : 'It is not known whether the task was accepted. It is being cancelled, so nothing is charged; ' +
        'with an Idempotency-Key the same call can safely be repeated.';
}

function answerCreated(ctx: ApiCall, task: CreatedTask): void {
  ctx.set('Location', locationOf(task.id));
  ctx.status = 200;
  ctx.body = task;
}

function locationOf(taskId: string): string {
  return `/v1/videos/generations/${taskId}`;
}

function refuseOtherRequest(known: string, requestHash: string): void {
  if (known === requestHash) return;
  throw new Refused({
    code: 'idempotency_key_reused',
    param: 'Idempotency-Key',
    message: 'This Idempotency-Key was used with another body. Use a new key for a new task.',
  });
}

function idempotencyKeyOf(ctx: ApiCall): string | null {
  const { 'idempotency-key': key } = ctx.headers;
  if (key === undefined) return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refused({
    code: 'invalid_value',
    param: 'Idempotency-Key',
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  });
}
