// Gives each account a share of the database connections of this process, so that no account takes
// all of them. A call with a key has no other way to the database, except the look-ups that all calls
// share (look-ups.ts). The rate limits of the keys limit how many calls wait.

import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { limited } from '../database/limited';
import { Refused } from './context';
import { unavailable } from './errors';

/** The database as the calls of one account see it. */
export type DatabaseOf = (accountId: string) => Knex;

// Less than a call waits for a connection of the pool. If a statement waits that long in this queue,
// the account sends more than its share can do, and the call gets a 503.
const waitMsMax = 8_000;
// More than the accounts that are busy at once. An account that returns gets a new one.
const databasesMax = 10_000;

interface Queue {
  running: number;
  /** The waiting statements, in the order of arrival. */
  readonly waiting: Set<() => void>;
}

/** `connectionsMax` is the number of connections that one account may use at once. */
export function createShares(db: Knex, connectionsMax: number): DatabaseOf {
  const queues = new Map<string, Queue>();
  const databases = new LRUCache<string, Knex>({ max: databasesMax });

  const enter = async (accountId: string): Promise<void> => {
    const queue = queues.get(accountId) ?? { running: 0, waiting: new Set() };
    queues.set(accountId, queue);
    if (queue.running >= connectionsMax) return turnIn(queue);
    queue.running += 1;
  };

  const leave = (accountId: string): void => {
    const queue = queues.get(accountId);
    if (!queue) return;
    const [next] = queue.waiting;
    // The connection passes to the first that waits.
    if (next) next();
    else queue.running -= 1;
    if (queue.running === 0) queues.delete(accountId);
  };

  return (accountId) => {
    const known = databases.get(accountId);
    if (known) return known;
    const own = limited(db, { enter: () => enter(accountId), leave: () => leave(accountId) });
    databases.set(accountId, own);
    return own;
  };
}

function turnIn({ waiting }: Queue): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      waiting.delete(begin);
    };
    const begin = (): void => {
      end();
      resolve();
    };
    const timer = setTimeout(() => {
      end();
      reject(new Refused(unavailable, { 'retry-after': '2' }));
    }, waitMsMax);
    waiting.add(begin);
  });
}
