// Creates that are under way in this process: equal ones are one, and those of one account stand in
// a line of their own, so that the others do not wait behind them.

import type { Engine, Submission } from '../temporal';
import { type Denied, denied } from './context';
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
// Where the engine hangs a line hardly moves: then it is better to be told to come back.
const inLineMs = 5_000;

/** So many creates of one account are under way at most, and most of a burst waits in line. */
export function limitInFlight(max: number, now: () => number) {
  /** By account, the last to come last. */
  const lines = new Map<string, Line>();
  const atOnce = () => (lines.size > 1 ? atOnceBesideOthers : atOnceAlone);

  const enter = (accountId: string, line: Line): void => {
    line.underWay += 1;
    line.lastAt = now();
    lines.delete(accountId);
    lines.set(accountId, line);
  };

  const forgetAbsent = (): void => {
    for (const [accountId, { underWay, lastAt }] of lines) {
      if (underWay > 0 || lastAt > now() - presentForMs) return;
      lines.delete(accountId);
    }
  };

  return {
    async during<T>(
      accountId: string,
      work: (underWay: number) => Promise<T>,
    ): Promise<T | Denied> {
      const line = lines.get(accountId) ?? new Line(atOnce);
      if (line.underWay >= max) return tooMany(line, max);
      enter(accountId, line);
      const { underWay } = line;
      forgetAbsent();
      try {
        if (!(await line.turn())) return tooMany(line, max);
        return await line.during(() => work(underWay));
      } finally {
        line.underWay -= 1;
      }
    },
  };
}

class Line {
  underWay = 0;
  lastAt = 0;
  private working = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly atOnce: () => number) {}

  /** True when there is room, false when there was none for too long. */
  turn(): Promise<boolean> {
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => {
        this.waiting.delete(begin);
        resolve(false);
      }, inLineMs);
      const begin = () => {
        clearTimeout(giveUp);
        resolve(true);
      };
      this.waiting.add(begin);
      this.callUp();
    });
  }

  /** Work whose turn has come; then it is the next one's. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.working -= 1;
      this.callUp();
    }
  }

  private callUp(): void {
    for (const begin of this.waiting) {
      if (this.working >= this.atOnce()) return;
      this.working += 1;
      this.waiting.delete(begin);
      begin();
    }
  }
}

function tooMany({ underWay }: Line, max: number): Denied {
  const message = `This account has ${underWay} creates under way, as many as it may have for now.`;
  return denied(rateLimited(message), limitHeaders(max, 1));
}
