// One process of the stack. A supervised process is restarted after it dies, so a user can kill a
// process and see that nothing is lost (docs/decisions.md, 14). After too many short runs in a row
// it is not restarted.

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
  readonly onDeath: (death: Death) => void;
  readonly onBack: () => void;
  readonly onGivenUp: (error: Error) => void;
}

export interface Death {
  readonly how: string;
  readonly lastWords: string;
  readonly againInMs: number | null;
}

// A part that ends ten times in a row within a minute of its start is not restarted any more.
const pauseMs = 1_000;
const livesMax = 10;
const longLifeMs = 60_000;

export function createPart(options: PartOptions): Part {
  let current: Launched | undefined;
  let starting: Promise<void> | undefined;
  let wanted = false;
  let shortLives = 0;
  let timer: NodeJS.Timeout | undefined;

  async function launch(): Promise<void> {
    const launched = await options.launch();
    const bornAt = Date.now();
    current = launched;
    options.onStarted(launched.child.pid);
    void launched.child.exited.then(({ code, signal }) => {
      if (current !== launched) return;
      current = undefined;
      const how = signal ? `was killed (${signal})` : `ended with code ${code}`;
      if (wanted) died(how, launched.child.lastWords(), Date.now() - bornAt);
    });
  }

  async function begin(): Promise<void> {
    starting = launch();
    try {
      await starting;
    } finally {
      starting = undefined;
    }
  }

  function died(how: string, lastWords: string, livedMs: number): void {
    shortLives = livedMs > longLifeMs ? 1 : shortLives + 1;
    const again = options.supervised && shortLives < livesMax;
    options.onDeath({ how, lastWords, againInMs: again ? pauseMs : null });
    if (again) timer = setTimeout(() => void comeBack(), pauseMs);
    else if (options.supervised) {
      options.onGivenUp(new Error(`${options.name} ${how} ${shortLives} times in a row.`));
    }
  }

  async function comeBack(): Promise<void> {
    try {
      await begin();
      options.onBack();
    } catch (error) {
      if (wanted) died('did not start again', (error as Error).message, 0);
    }
  }

  return {
    name: options.name,
    get pid() {
      return current?.child.pid ?? null;
    },
    get exited() {
      return current?.child.exited ?? Promise.resolve();
    },
    isAlive: () => current?.child.isAlive() ?? false,
    async start() {
      wanted = true;
      clearTimeout(timer);
      if (!current) await begin();
    },
    async stop() {
      wanted = false;
      clearTimeout(timer);
      // A process that is being started is stopped too.
      await starting?.catch(() => undefined);
      await current?.stop();
    },
    kill(signal) {
      current?.child.process.kill(signal);
    },
  };
}
