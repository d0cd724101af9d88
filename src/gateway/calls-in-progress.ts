// Limits the calls of one account that are in progress in this process and, behind a proxy, those of
// one address. Each of them holds a connection: while its body arrives, while it waits for a task,
// and while its reply is read. Without a proxy the server counts the connections of an address
// itself (commands/connection-shares.ts).

import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { addressOf } from './auth';
import { type ApiCall, type ApiState, Refused } from './context';
import { countAtOnce } from './count-at-once';
import type { Rates } from './deps';
import { limitHeaders, rateLimited } from './limits';

type Begin = (ctx: ApiCall, name: string) => void;

/** Counts a call until its connection is free again. Throws a refusal if too many are in progress. */
function limitCalls(max: number, owner: string): Begin {
  const running = countAtOnce(max, Number.POSITIVE_INFINITY);
  // A read whose statement was cut is admitted again.
  const counted = new WeakSet<ServerResponse>();
  return ({ req, res }, name) => {
    if (res.destroyed || counted.has(res)) return;
    if (running.enter(name) !== 'entered') throw tooMany(owner, max);
    counted.add(res);
    res.once('close', () => {
      const leave = () => running.leave(name);
      // The rest of a body is discarded after the reply.
      if (req.complete || req.socket.destroyed) leave();
      else req.socket.once('close', leave);
    });
  };
}

export function limitCallsOfAccounts({ callsAtOnceMax }: Rates): Begin {
  return limitCalls(callsAtOnceMax, 'account');
}

export function limitCallsOfAddresses({ callsAtOnceMax }: Rates): Middleware<ApiState> {
  const begin = limitCalls(callsAtOnceMax, 'address');
  return (ctx, next) => {
    begin(ctx, addressOf(ctx));
    return next();
  };
}

function tooMany(owner: string, max: number): Refused {
  const message = `This ${owner} has ${max} calls in progress, which is the limit. Try again shortly.`;
  return new Refused(rateLimited(message), limitHeaders(max, 1));
}
