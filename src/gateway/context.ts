// The types of a request in the API, the class of refusals, and the functions that answer with
// JSON. Routes use these types instead of those of Koa and its router.

import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { Knex } from 'knex';
import type { ParameterizedContext } from 'koa';
import type { Caller } from '../accounts/accounts.rows';
import type { Refusal } from '../contract/error';
import { errorBody, refusals } from '../contract/error';

export interface ApiState {
  /** The id of this request: sent in the reply and logged. */
  requestId: string;
  /** The trace id of the caller's traceparent, or else the request id without hyphens. */
  traceId: string;
  /** Absent until the key is checked. */
  caller?: Caller;
  db?: Knex;
  /** Route pattern, set if the request bypassed the router. */
  route?: string;
  /** The task that the request names or creates; logged with the request. */
  taskId?: string;
  fileId?: string;
  code?: string;
  /** The call begins to make something that its repeat would make a second time. */
  isMaking?: boolean;
  /** The caller closed the connection, so nobody gets the answer. It counts as no error of ours. */
  isAbandoned?: boolean;
  answeredBy?: 'workflow' | 'row';
  /** The end of a held read, on a monotonic clock. A repeated read does not begin it anew. */
  heldUntilMs?: number;
}

/** The state after the key was checked. Handlers of the task API require it. */
export interface KeyedState extends ApiState {
  caller: Caller;
  /** The database, within the share of the caller's account (shares.ts). */
  db: Knex;
}

/** `…Call` also fits requests that bypassed the router; `…Context` needs the router. */
export type ApiCall = ParameterizedContext<ApiState>;
export type KeyedCall = ParameterizedContext<KeyedState>;
export type ApiContext = RouterContext<ApiState>;
export type KeyedContext = RouterContext<KeyedState>;
export type ApiRouter = Router<ApiState>;
export type KeyedRouter = Router<KeyedState>;

export type Headers = Readonly<Record<string, string>>;

/**
 * A refusal. A create returns its refusal. Throwing the refusal through all functions of a create
 * would take one seventh of the time of the reply. Other functions throw their refusals.
 */
export class Refused extends Error {
  readonly outcome = 'refused';
  constructor(
    readonly refusal: Refusal,
    readonly headers: Headers = {},
  ) {
    // No stack trace is recorded, because only the message is used. Recording a stack trace would
    // take longer than the reply.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(refusal.message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Refused';
  }
}

export function refuse(ctx: ApiCall, refusal: Refusal, headers?: Headers): void {
  ctx.state.code = refusal.code;
  ctx.status = refusals[refusal.code].status;
  if (headers) ctx.set(headers);
  answerJsonText(ctx, JSON.stringify(errorBody(refusal)));
}

/** Answers with text that is already JSON. */
export function answerJsonText(ctx: ApiCall, text: string): void {
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = text;
}

export const taskNotFound: Refusal = {
  code: 'task_not_found',
  param: 'task_id',
  message: 'There is no such task.',
};
