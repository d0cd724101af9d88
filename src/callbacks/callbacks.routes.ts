// GET of a task's callback: its state and all attempts. POST of a resend: the same message is
// delivered once more: its row is due, so a worker starts the delivery (activities/callbacks). Only
// the owner of the task can do either. GET of the callbacks of an account, in pages.

import type { Refusal } from '../contract/error';
import { show as shownText, words } from '../contract/field';
import { type CallbackState, callbackStates } from '../contract/vocabulary';
import { isTaskId } from '../database/ids';
import { askerOf } from '../gateway/auth';
import type { KeyedContext, KeyedRouter } from '../gateway/context';
import { refuse, taskNotFound } from '../gateway/context';
import { afterOf, limitOf, type QueryReader, readQuery, refuseUnknown } from '../gateway/paging';
import { queryOf } from '../gateway/query';
import type { FindTask } from '../tasks/find-task';
import { type Attempt, beginResend, findTaskCallback, listAttempts } from './callbacks.rows';
import { cursorOf, lastAttempts, listCallbacks, readCursor } from './list.rows';
import { lacksWebhook } from './receiver.rows';

export function callbackRoutes(router: KeyedRouter, find: FindTask): void {
  /** The id of the task and its callback; undefined if the caller has no such task. */
  const findOwn = async (ctx: KeyedContext) => {
    const id = String(ctx.params.task_id ?? '');
    ctx.state.taskId = id.slice(0, 64);
    if (!isTaskId(id)) return undefined;
    const task = await find(id, askerOf(ctx));
    const callback = task && (await findTaskCallback(ctx.state.db, id));
    return callback ? { id, callback } : undefined;
  };

  const show = async (ctx: KeyedContext): Promise<void> => {
    const own = await findOwn(ctx);
    if (!own) return refuse(ctx, taskNotFound);
    const { id, callback } = own;
    const attempts = await listAttempts(ctx.state.db, id);
    ctx.body = {
      data: attempts.map(shownAttempt),
      next_at: callback.nextAt ? seconds(callback.nextAt) : null,
      state: callback.state,
      webhook_id: callback.webhookId,
    };
  };

  const resend = async (ctx: KeyedContext): Promise<void> => {
    const own = await findOwn(ctx);
    if (!own) return refuse(ctx, taskNotFound);
    const { db } = ctx.state;
    const delivery = await beginResend(db, own.id, deliveriesMax);
    if (delivery === null) {
      return refuse(ctx, (await lacksWebhook(db, own.id)) ? noWebhook : nothingToResend);
    }
    await show(ctx);
    ctx.status = 202;
  };

  router.get('/v1/callbacks', list);
  for (const base of ['/v1/videos/generations', '/v1/video/generations']) {
    router.get(`${base}/:task_id/callbacks`, show);
    router.post(`${base}/:task_id/callbacks/resend`, resend);
  }
}

async function list(ctx: KeyedContext): Promise<void> {
  const { limit, after, states } = readQuery(queryOf(ctx), (reader) => {
    refuseUnknown(reader, ['limit', 'after', 'state']);
    return { limit: limitOf(reader), after: afterOf(reader, readCursor), ...statesOf(reader) };
  });
  const { db, caller } = ctx.state;
  const { accountId } = caller;
  // One row more than the limit is read, to see whether there is another page.
  const filter = { accountId, after, limit: limit + 1, ...(states ? { states } : {}) };
  const found = await listCallbacks(db, filter);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const attempts = await lastAttempts(
    db,
    page.map(({ taskId }) => taskId),
  );
  // A message whose address was erased cannot be sent any more.
  const kept = page.filter(({ url }) => url !== '');
  ctx.body = {
    data: kept.map(({ taskId, state, webhookId, changedAt, nextAt }) => {
      const attempt = attempts.get(taskId);
      return {
        task_id: taskId,
        state,
        webhook_id: webhookId,
        changed_at: seconds(changedAt),
        next_at: nextAt ? seconds(nextAt) : null,
        last_attempt: attempt ? shownAttempt(attempt) : null,
      };
    }),
    next: last && found.length > limit ? cursorOf(last) : null,
  };
}

function statesOf({ text, fault }: QueryReader): { readonly states?: readonly CallbackState[] } {
  const given = text('state');
  if (given === null) return {};
  const states = given.split(',').map((name) => callbackStates.find((known) => known === name));
  const known = states.filter((state) => state !== undefined);
  if (known.length === states.length) return { states: [...new Set(known)] };
  const sentence = `must be some of ${words(callbackStates)}, separated by commas; got ${shownText(given)}.`;
  fault('state', sentence);
  return {};
}

function shownAttempt({ attempt, at, status, latencyMs, error }: Attempt) {
  return { attempt, at: seconds(at), status, latency_ms: latencyMs, error };
}

// The log of a task is answered whole. An operator may send a message again without a limit.
const deliveriesMax = 100;

const nothingToResend: Refusal = {
  code: 'callback_not_found',
  param: 'task_id',
  message: `There is no message to send: the task has not finished or has no callback, or its message was sent ${deliveriesMax} times.`,
};

const noWebhook: Refusal = {
  code: 'callback_not_found',
  param: 'task_id',
  message:
    'The webhook of this message was deleted, and no other webhook of the account takes the state of the task. Add one, and send the message again.',
};

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
