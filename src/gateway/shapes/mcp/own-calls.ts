// Runs handlers of our own API for a tool, and takes their answers back from the call.

import { errorBody } from '../../../contract/error';
import type { JsonObject } from '../../../contract/safe-json';
import type { TaskObject } from '../../../contract/task';
import { type KeyedCall, Refused } from '../../context';
import type { KeyedDeps } from '../../deps';
import { createTranslated, parseTranslated, readCreated } from '../create-translated';
import type { Calls, NativeError } from '../shape';

export type Answered<T> = { readonly answer: T } | { readonly error: NativeError };

export interface OwnCalls {
  submit(body: JsonObject, idempotencyKey?: string): Promise<Answered<{ readonly id: string }>>;
  quote(body: JsonObject): Promise<Answered<object>>;
  show(taskId: string, waitSeconds?: number): Promise<Answered<TaskObject>>;
  models(): Promise<Answered<object>>;
  /** Shows a task that `submit` has just created. */
  showCreated(taskId: string): Promise<Answered<TaskObject>>;
  cancel(taskId: string): Promise<Answered<TaskObject>>;
  /** An error that is no refusal. The protocol's library would send it to the caller. */
  fault: unknown;
}

export function callsOf(
  ctx: KeyedCall,
  deps: Pick<KeyedDeps, 'observer'>,
  { create, quote, show, cancel, models }: Calls,
): OwnCalls {
  const answered = async <T>(run: () => Promise<unknown>): Promise<Answered<T>> => {
    try {
      await run();
      const { status, body } = ctx;
      const read = (typeof body === 'string' ? JSON.parse(body) : body) as never;
      return status < 400 ? { answer: read } : read;
    } catch (error) {
      if (error instanceof Refused) return errorBody(error.refusal);
      own.fault = error;
      throw error;
    }
  };
  const shown = (taskId: string, waitSeconds = 0) => {
    ctx.req.headers.prefer = `wait=${waitSeconds}`;
    return show(ctx, taskId);
  };
  const own: OwnCalls = {
    fault: undefined,
    submit(body, idempotencyKey) {
      // Our own create reads the key from this header.
      if (idempotencyKey !== undefined) ctx.req.headers['idempotency-key'] = idempotencyKey;
      return answered(() => createTranslated(ctx, create, { body }));
    },
    quote: (body) => answered(() => quote(ctx, parseTranslated(body))),
    models: () => answered(async () => models(ctx)),
    show: (taskId, waitSeconds) => answered(() => shown(taskId, waitSeconds)),
    showCreated: (taskId) => answered(() => readCreated(ctx, deps, taskId, () => shown(taskId))),
    cancel: (taskId) => answered(() => cancel(ctx, taskId)),
  };
  return own;
}
