// Counts what is in progress in this process, for one account or address and for all, and refuses
// what is too much. Each call in progress holds a connection.

import type { ServerResponse } from 'node:http';
import { type ApiCall, Refused } from './context';
import { type AtOnce, type AtOnceName, atOnceTable } from './limit-table';
import { limitHeaders, rateLimited } from './limits';

export interface AtOnceCounter {
  /** Counts one more, unless the name itself (`own`) or all names together (`all`) have too many. */
  enter(name: string): 'entered' | 'own' | 'all';
  leave(name: string): void;
}

export function countAtOnce({ own, all }: AtOnce): AtOnceCounter {
  const running = new Map<string, number>();
  let sum = 0;
  const countOf = (name: string) => running.get(name) ?? 0;
  return {
    enter(name) {
      if (countOf(name) >= own) return 'own';
      if (sum >= all) return 'all';
      sum += 1;
      running.set(name, countOf(name) + 1);
      return 'entered';
    },
    leave(name) {
      sum -= 1;
      if (countOf(name) > 1) running.set(name, countOf(name) - 1);
      else running.delete(name);
    },
  };
}

/** Counts a call until its reply ends. Throws a refusal if a limit is reached. */
export type Begin = (ctx: ApiCall, name: string) => void;

/** `owner` is whom the limit counts, if it is not the one of the table. */
export function limitAtOnce<Name extends AtOnceName>(
  limits: Readonly<Record<Name, AtOnce>>,
  limit: Name,
  owner: 'account' | 'address' = atOnceTable[limit].of,
): Begin {
  const running = countAtOnce(limits[limit]);
  // A read whose statement was cut is admitted again.
  const counted = new WeakSet<ServerResponse>();
  return ({ req, res }, name) => {
    // A client may have disconnected, and no later event reports that.
    if (res.destroyed || counted.has(res)) return;
    const outcome = running.enter(name);
    if (outcome !== 'entered')
      throw tooMany(outcome === 'own' ? owner : null, limit, limits[limit]);
    counted.add(res);
    res.once('close', () => {
      const leave = () => running.leave(name);
      // The rest of a body is discarded after the reply.
      if (req.complete || req.socket.destroyed) leave();
      else req.socket.once('close', leave);
    });
  };
}

export function tooMany(owner: string | null, limit: AtOnceName, { own }: AtOnce): Refused {
  const { what } = atOnceTable[limit];
  const why = owner
    ? `This ${owner} has ${own} ${what} in progress`
    : `Too many ${what} are in progress`;
  const message = `${why}, which is the limit. Try again shortly.`;
  // The body of a refused upload is not read.
  const close = limit === 'uploadsAtOnce' ? { connection: 'close' } : {};
  return new Refused(rateLimited(message), { ...limitHeaders(own, 1), ...close });
}
