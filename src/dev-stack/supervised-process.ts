// One process of the stack. A supervised process is restarted after it dies. The pause before a
// restart grows. A user can thus kill a process and see that nothing is lost (docs/decisions.md,
// 14). After too many short runs in a row, the process is not restarted.

import type { Child } from '../embedded/child';

export interface Launched {
  readonly child: Child;
  stop(): Promise<void>;
}

export interface Part {
  readonly name: string;
  readonly pid: number | null;
  isAlive(): boolean;
  start(): Promise<void>;
  /** Stops the process by a signal. The part stays stopped until `start`. */
  stop(): Promise<void>;
  /**
   * Sends this signal to the process, as another program could. If the process dies, a supervised
   * part is restarted. Any other part stays dead until `start`.
   */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the current process ends. */
  readonly exited: Promise<unknown>;
}

interface PartOptions {
  readonly name: string;
  /** Starts the process and resolves when it is ready. */
  launch(): Promise<Launched>;
  readonly supervised: boolean;
  readonly onStarted: (pid: number) => void;
  readonly onEnded: () => void;
  readonly onDeath: (death: Death) => void;
  readonly onBack: () => void;
  readonly onGivenUp: (error: Error) => void;
}

export interface Death {
  readonly how: string;
  readonly lastWords: string;
  readonly againInMs: number | null;
}

// The pause before a restart is 500 ms at first and doubles up to 10 s. After ten short runs in a
// row there is no restart. The pauses between these runs last about a minute in total. A run of
// more than a minute resets the pause and the count.
const pauseMinMs = 500;
const pauseMaxMs = 10_000;
const livesMax = 10;
const longLifeMs = 60_000;

export function createPart(options: PartOptions): Part {
  let wanted = false;
  let shortLives = 0;
  let timer: NodeJS.Timeout | undefined;
  const life = oneLifeAtATime(options, (manner, lastWords, livedMs) => {
    if (wanted) died(manner, lastWords, livedMs);
  });

  function died(manner: string, lastWords: string, livedMs: number): void {
    shortLives = livedMs > longLifeMs ? 1 : shortLives + 1;
    const againInMs = Math.min(pauseMaxMs, pauseMinMs * 2 ** (shortLives - 1));
    const again = options.supervised && shortLives < livesMax;
    options.onDeath({ how: manner, lastWords, againInMs: again ? againInMs : null });
    if (again) timer = setTimeout(() => void comeBack(), againInMs);
    else if (options.supervised) {
      options.onGivenUp(new Error(`${options.name} ${manner} ${shortLives} times in a row.`));
    }
  }

  async function comeBack(): Promise<void> {
    try {
      await life.begin();
      options.onBack();
    } catch (error) {
      if (wanted) died('did not start again', (error as Error).message, 0);
    }
  }

  return {
    name: options.name,
    get pid() {
      return life.child()?.pid ?? null;
    },
    get exited() {
      return life.child()?.exited ?? Promise.resolve();
    },
    isAlive: () => life.child()?.isAlive() ?? false,
    async start() {
      wanted = true;
      clearTimeout(timer);
      if (!life.child()) await life.begin();
    },
    async stop() {
      wanted = false;
      clearTimeout(timer);
      await life.end();
    },
    kill(signal) {
      life.child()?.process.kill(signal);
    },
  };
}

/**
 * Keeps the current process of a part, if there is one. `end` also waits for a process that is
 * being started.
 */
function oneLifeAtATime(
  options: PartOptions,
  onEnd: (manner: string, lastWords: string, livedMs: number) => void,
) {
  let current: Launched | undefined;
  let starting: Promise<void> | undefined;

  async function launch(): Promise<void> {
    const launched = await options.launch();
    const bornAt = Date.now();
    current = launched;
    options.onStarted(launched.child.pid);
    void launched.child.exited.then(({ code, signal }) => {
      if (current !== launched) return;
      current = undefined;
      options.onEnded();
      onEnd(how(code, signal), launched.child.lastWords(), Date.now() - bornAt);
    });
  }

  return {
    child: () => current?.child,
    async begin() {
      starting = launch();
      try {
        await starting;
      } finally {
        starting = undefined;
      }
    },
    async end() {
      await starting?.catch(() => undefined);
      await current?.stop();
    },
  };
}

function how(code: number | null, signal: string | null): string {
  return signal ? `was killed (${signal})` : `ended with code ${code}`;
}
