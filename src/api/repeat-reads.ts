// If PostgreSQL closes a connection while a statement runs, for example because it starts again, the
// statement fails, although the next connection works. A read changes nothing, so it is made a second
// time. Nobody knows whether a cut change was stored, so only its caller repeats it.

import type { Middleware, Next } from 'koa';
import { isOutcomeUnknown } from '../db/database';
import { isSilence } from '../db/silent-connections';
import type { ApiState } from './context';

/** Each handler calls the next one, or answers. Routers ask for a context that they extend themselves. */
type Handler = (ctx: never, next: Next) => Promise<unknown>;

/** Runs the handlers in order. A read whose statement was cut runs through them once more. */
export function repeatReads(handlers: readonly Handler[]): Middleware<ApiState> {
  return async (ctx, last) => {
    const run = handlers.reduceRight<Next>(
      (next, handler) => () => handler(ctx as never, next),
      last,
    );
    try {
      await run();
    } catch (error) {
      if (ctx.method !== 'GET' || ctx.headerSent || !wasCut(error)) throw error;
      await run();
    }
  };
}

/** A silent connection has cost the caller seconds already. */
const wasCut = (error: unknown) => isOutcomeUnknown(error) && !isSilence(error);
