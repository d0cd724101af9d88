// Limits how much work of one account runs at once in this process, so that no account takes all
// database connections. Further calls wait in a queue. If the queue is full, they are refused.

import { Refused } from './context';
import { unavailable } from './errors';
import { limitHeaders, rateLimited } from './limits';

interface LimitAtOnce {
  /** Maximum number of running calls of one account. */
  readonly running: number;
  readonly waiting: number;
  /** The name of the work in a refusal, for example "lists". */
  readonly work: string;
}

export type AtOnce = <T>(accountId: string, work: () => Promise<T>) => Promise<T>;

// A call waits up to 4 s for a database connection. If a call waits twice as long in this queue,
// the database is overloaded, and the call gets a 503.
const waitMsMax = 8_000;

interface Queue {
  running: number;
  /** The waiting calls, in the order of arrival. */
  readonly waiting: Set<() => void>;
}

export function limitAtOnce({ running, waiting, work: name }: LimitAtOnce): AtOnce {
  const queues = new Map<string, Queue>();

  const enter = async (queue: Queue): Promise<void> => {
    if (queue.running < running) {
      queue.running += 1;
      return;
    }
    if (queue.waiting.size >= waiting) {
      const message = `This account has ${running} ${name} in progress and ${waiting} waiting, which is the limit.`;
      throw new Refused(rateLimited(message), limitHeaders(running, 1));
    }
    await turnIn(queue);
  };

  return async (accountId, work) => {
    const queue = queues.get(accountId) ?? { running: 0, waiting: new Set() };
    queues.set(accountId, queue);
    await enter(queue);
    try {
      return await work();
    } finally {
      const [next] = queue.waiting;
      // The slot passes to the first waiting call.
      if (next) next();
      else queue.running -= 1;
      if (queue.running === 0) queues.delete(accountId);
    }
  };
}

function turnIn({ waiting }: Queue): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      waiting.delete(begin);
    };
    const begin = (): void => {
      leave();
      resolve();
    };
    const timer = setTimeout(() => {
      leave();
      reject(new Refused(unavailable, { 'retry-after': '2' }));
    }, waitMsMax);
    waiting.add(begin);
  });
}
