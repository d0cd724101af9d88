// If PostgreSQL closes a connection while a statement runs, for example because it starts again, the
// statement fails, although the next connection works. A read changes nothing, so it is made again.
// Nobody knows whether a cut change was stored, so only its caller repeats it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Middleware, Next } from 'koa';
import { isOutcomeUnknown } from '../database/database';
import { isSilence } from '../database/silent-connections';
import type { ApiState } from './context';

/** Each handler calls the next one, or answers. Routers ask for a context that they extend themselves. */
type Handler = (ctx: never, next: Next) => Promise<unknown>;

// The connections of a pool close one after the other, so the next one may be cut too.
const againForMs = 2_000;
const againMs = 100;

/** Runs the handlers in order. A read whose statement was cut runs through them again. */
export function repeatReads(handlers: readonly Handler[]) {
  const middleware: Middleware<ApiState> = async (ctx, last) => {
    const run = handlers.reduceRight<Next>(
      (next, handler) => () => handler(ctx as never, next),
      last,
    );
    for (let cutAt: number | undefined; ; await pause(againMs)) {
      const began = performance.now();
      try {
        return await run();
      } catch (error) {
        // A held read that has run for longer was cut anew. It ends at its time.
        const isHeld = (ctx.state.heldUntilMs ?? 0) > performance.now();
        if (isHeld && performance.now() - began > againForMs) cutAt = undefined;
        cutAt ??= performance.now();
        const isLate = performance.now() - cutAt > againForMs;
        if (ctx.method !== 'GET' || ctx.headerSent || isLate || !wasCut(error)) throw error;
      }
    }
  };
  // As a router shows its routes.
  return Object.assign(middleware, { handlers });
}

/** A silent connection has cost the caller seconds already. */
const wasCut = (error: unknown) => isOutcomeUnknown(error) && !isSilence(error);
