// Creates that are under way in this process: equal ones are one, and those of one account stand in
// a line of their own, so that the others do not wait behind them.

import type { Engine, Submission } from '../temporal';
import { Refused } from './context';
import { limitHeaders, rateLimited } from './rate-limit';

/** Equal calls in one process share one submission: a workflow takes only a few updates at once. */
export function sharingSubmissions({ submit }: Pick<Engine, 'submit'>): Engine['submit'] {
  const running = new Map<string, Promise<Submission>>();
  return (input) => {
    const key = `${input.taskId}:${input.requestHash}`;
    const known = running.get(key);
    if (known) return known;
    const submission = submit(input).finally(() => running.delete(key));
    running.set(key, submission);
    return submission;
  };
}

// Creates of one account that are worked on at once: as many as keep a small engine busy while
// nobody else is there, and few while somebody is, because all that is ahead of a single task
// delays it (docs/decisions.md, 27).
const atOnceAlone = 16;
const atOnceBesideOthers = 4;
// An account whose last create is this old is not there any more.
const presentForMs = 10_000;

interface Line {
  underWay: number;
  working: number;
  lastAt: number;
  readonly waiting: (() => void)[];
}

/** So many creates of one account are under way at most, and most of a burst waits in line. */
export function limitInFlight(max: number, now: () => number) {
  /** By account, the last to come last. */
  const lines = new Map<string, Line>();

  const enter = (accountId: string): Line => {
    const line = lines.get(accountId) ?? { underWay: 0, working: 0, lastAt: 0, waiting: [] };
    if (line.underWay >= max) {
      const message = `This account has ${line.underWay} creates under way, as many as it may have.`;
      throw new Refused(rateLimited(message), limitHeaders(max, 1));
    }
    line.underWay += 1;
    line.lastAt = now();
    lines.delete(accountId);
    lines.set(accountId, line);
    return line;
  };

  const forgetAbsent = (): void => {
    for (const [accountId, { underWay, lastAt }] of lines) {
      if (underWay > 0 || lastAt > now() - presentForMs) return;
      lines.delete(accountId);
    }
  };

  const callUp = (line: Line): void => {
    const atOnce = lines.size > 1 ? atOnceBesideOthers : atOnceAlone;
    while (line.working < atOnce && line.waiting.length > 0) {
      line.working += 1;
      line.waiting.shift()?.();
    }
  };

  return {
    async during<T>(accountId: string, work: (underWay: number) => Promise<T>): Promise<T> {
      const line = enter(accountId);
      const { underWay } = line;
      forgetAbsent();
      const turn = new Promise<void>((resolve) => line.waiting.push(resolve));
      callUp(line);
      await turn;
      try {
        return await work(underWay);
      } finally {
        line.underWay -= 1;
        line.working -= 1;
        callUp(line);
      }
    },
  };
}
