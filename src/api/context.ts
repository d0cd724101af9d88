// The state of a request on its way through the API, and the ways to answer it. Handlers depend on
// these names only.

import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { ParameterizedContext } from 'koa';
import type { Refusal } from '../contract/error';
import { errorBody, refusals } from '../contract/error';
import type { Caller } from '../db/accounts';

export interface ApiState {
  /** The id of this request, on its reply and its log line. */
  requestId: string;
  /**
   * Trace id of a created task: the caller's, if it sent a traceparent, else made from the request
   * id.
   */
  traceId: string;
  /** Absent until the key is checked. */
  caller?: Caller;
  /** Route pattern, set if the request bypassed the router. */
  route?: string;
  /** Logged with the request. */
  taskId?: string;
  code?: string;
  submission?: Interval;
}

/** The state after the key was checked. Handlers of the task API require it. */
export interface KeyedState extends ApiState {
  caller: Caller;
}

export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** A request, with or without the router. */
export type ApiCall = ParameterizedContext<ApiState>;
export type KeyedCall = ParameterizedContext<KeyedState>;
export type ApiContext = RouterContext<ApiState>;
export type KeyedContext = RouterContext<KeyedState>;
export type ApiRouter = Router<ApiState>;
export type KeyedRouter = Router<KeyedState>;

export type Headers = Readonly<Record<string, string>>;

/**
 * A refusal. A create returns it: throwing it through all functions of a create would make up a
 * seventh of the cost of such a reply. Other nested calls throw it.
 */
export class Refused extends Error {
  readonly outcome = 'refused';
  constructor(
    readonly refusal: Refusal,
    readonly headers: Headers = {},
  ) {
    // No stack trace: only the message is used, and recording the stack takes longer than the
    // reply.
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

/** Sends text that is JSON already. */
export function answerJsonText(ctx: ApiCall, text: string): void {
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = text;
}

export const taskNotFound: Refusal = {
  code: 'task_not_found',
  param: 'task_id',
  message: 'There is no such task.',
};
