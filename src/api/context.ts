// What every request carries on its way through the API, and the few ways to answer it. Handlers
// know these names and nothing else of how a request came in.

import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import type { ParameterizedContext } from 'koa';
import type { Refusal } from '../contract/error';
import { errorBody, refusals } from '../contract/error';

/** Who calls: the API key and the account behind it. */
export interface Caller {
  readonly keyId: string;
  readonly accountId: string;
  readonly accountDisabled: boolean;
  /** The catalogue entries this key may use; null is all. */
  readonly models: readonly string[] | null;
  /** The channels this key may use; null is all. */
  readonly channels: readonly string[] | null;
}

export interface ApiState {
  /** This request's own id, on every reply and log line. */
  requestId: string;
  /** The trace a created task belongs to: the caller's, where one was sent, else the request id. */
  traceId: string;
  /** Set for everything under /v1. */
  caller: Caller;
  /** The pattern of its address, where no router found it. */
  route?: string;
  /** Named in the log line of the request. */
  taskId?: string;
  code?: string;
  submission?: Interval;
}

export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** A request on its way, whoever found its handler. */
export type ApiCall = ParameterizedContext<ApiState>;
export type ApiContext = RouterContext<ApiState>;
export type ApiRouter = Router<ApiState>;

export type Headers = Readonly<Record<string, string>>;

/**
 * Thrown where a refusal ends a request from below; handlers may as well call `refuse` themselves.
 */
export class Refused extends Error {
  constructor(
    readonly refusal: Refusal,
    readonly headers: Headers = {},
  ) {
    // Its sentence goes to the caller; where it was thrown, nobody reads, and to note it takes
    // longer than to answer.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(refusal.message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Refused';
  }
}

/**
 * What the rules refuse of a create, handed back to be answered: throwing, through every function
 * on the way, would be a seventh of what such an answer costs.
 */
export interface Denied {
  readonly outcome: 'refused';
  readonly refusal: Refusal;
  readonly headers?: Headers;
}

export function denied(refusal: Refusal, headers: Headers = {}): Denied {
  return { outcome: 'refused', refusal, headers };
}

export function refuse(ctx: ApiCall, refusal: Refusal, headers?: Headers): void {
  ctx.state.code = refusal.code;
  ctx.status = refusals[refusal.code].status;
  if (headers) ctx.set(headers);
  answerJsonText(ctx, JSON.stringify(errorBody(refusal)));
}

/** JSON that is text already goes out as it is. */
export function answerJsonText(ctx: ApiCall, text: string): void {
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = text;
}

export const taskNotFound: Refusal = {
  code: 'task_not_found',
  param: 'task_id',
  message: 'There is no such task.',
};
