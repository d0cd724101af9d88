// POST: read, parse, replay, plan, refuse what can be refused, hand over. The order of the checks is part of the
// contract: a paid task that is asked for again is answered before anybody looks at prices, permissions or balances.

import type { Knex } from 'knex';
import type { TaskInput } from '../../workflows/messages';
import { parseRequest } from '../contract/parse-request';
import type { CreatedTask, TaskObject } from '../contract/task';
import { findFunds, insufficientBalance } from '../db/funds';
import { findTask } from '../db/tasks';
import type { Plan } from '../domain/plan-types';
import { createdTask, statusMessages } from '../domain/task';
import type { Engine, Submission } from '../temporal';
import type { ApiDeps } from './app';
import { bodyBytesMax, readJsonBody } from './body';
import type { ApiContext, ApiRouter, Caller } from './context';
import { Refused } from './context';
import { planForCaller } from './plan-request';
import { createRateLimit, limitHeaders, rateLimited } from './rate-limit';
import { hashOfRequest, newTaskId, taskIdForKey } from './task-id';
import { createUnknownStarts } from './unknown-starts';

export function createRoutes(router: ApiRouter, deps: ApiDeps): void {
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

  const create = async (ctx: ApiContext): Promise<void> => {
    const { caller, traceId } = ctx.state;
    const parsed = parseRequest(await readJsonBody(ctx.req, bodyBytesMax));
    const { request } = parsed;
    const key = idempotencyKeyOf(ctx);
    // A body with faults was never accepted, so it is another body than that of any task.
    const requestHash = parsed.faults.length > 0 ? '' : hashOfRequest(request);
    const taskId = key ? taskIdForKey(settings.pepper, caller.accountId, key) : newTaskId(now());
    ctx.state.taskId = taskId;
    // Only a caller with a key can come back to an id that somebody is about to cancel.
    const takeBack = async () => (key ? unknownStarts.takeBack(taskId) : undefined);
    if (key && (await replay(deps.db, ctx, taskId, requestHash, takeBack))) return;

    const limited = rateLimit.take(caller.keyId);
    if (limited) throw new Refused(limited.refusal, limited.headers);
    const { accountId } = caller;
    try {
      const plan = planForCaller(parsed, deps, caller);
      const input = { taskId, accountId, request, plan, requestHash, traceId };
      const submission = await inFlight.during(accountId, async (underWay) => {
        await checkFunds(deps, caller, plan, underWay);
        const startMs = now();
        const answered = await submit(input);
        ctx.state.submission = { startMs, endMs: now() };
        return answered;
      });
      if (submission.outcome === 'unavailable') {
        if (!submission.certain) unknownStarts.begin(taskId, submission.nonce);
      } else if (submission.outcome !== 'refused') await takeBack();
      answer(ctx, taskId, requestHash, submission);
    } catch (error) {
      if (!key || !requestHash || !isRefusedByRules(error)) throw error;
      // A task the engine holds and no worker has confirmed has no row yet; it is found before anybody is told no.
      const known = { taskId, accountId, requestHash };
      if (!(await replayPending(deps.engine, ctx, known, takeBack))) throw error;
    }
  };
  router.post('/v1/videos/generations', create);
  router.post('/v1/video/generations', create);
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
  ctx: ApiContext,
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
  ctx: ApiContext,
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

function answer(
  ctx: ApiContext,
  taskId: string,
  requestHash: string,
  submission: Submission,
): void {
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

function answerCreated(ctx: ApiContext, task: CreatedTask): void {
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

function idempotencyKeyOf(ctx: ApiContext): string | null {
  const { 'idempotency-key': key } = ctx.headers;
  if (key === undefined) return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refused({
    code: 'invalid_value',
    param: 'Idempotency-Key',
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  });
}

/** Equal calls in one process share one submission: a workflow takes only a few updates at once. */
function sharingSubmissions({ submit }: Pick<Engine, 'submit'>): Engine['submit'] {
  const running = new Map<string, Promise<Submission>>();
  return (input) => {
    const key = `${input.taskId}:${input.requestHash}`;
    const known = running.get(key);
    if (known) return known;
    const submission = submit(input).finally(() => running.delete(key));
    running.set(key, submission);
    return submission;
  };
}

/** So many creates of one account are under way at most: a burst of one must not hold up the others. */
function countInFlight(max: number) {
  const counts = new Map<string, number>();
  return {
    async during<T>(accountId: string, work: (underWay: number) => Promise<T>): Promise<T> {
      const before = counts.get(accountId) ?? 0;
      if (before >= max) {
        const message = `This account has ${before} creates under way, as many as it may have.`;
        throw new Refused(rateLimited(message), limitHeaders(max, 1));
      }
      counts.set(accountId, before + 1);
      try {
        return await work(before + 1);
      } finally {
        const left = (counts.get(accountId) ?? 1) - 1;
        if (left > 0) counts.set(accountId, left);
        else counts.delete(accountId);
      }
    },
  };
}
