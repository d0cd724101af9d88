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

/** Launches the process, one at a time, and tells how it ended. */
function createLauncher(
  { launch, onStarted }: Pick<PartOptions, 'launch' | 'onStarted'>,
  onEnd: (how: string, lastWords: string, livedMs: number) => void,
) {
  let current: Launched | undefined;
  let starting: Promise<void> | undefined;

  async function launchOne(): Promise<void> {
    const launched = await launch();
    const bornAt = Date.now();
    current = launched;
    onStarted(launched.child.pid);
    void launched.child.exited.then(({ code, signal }) => {
      if (current !== launched) return;
      current = undefined;
      const how = signal ? `was killed (${signal})` : `ended with code ${code}`;
      onEnd(how, launched.child.lastWords(), Date.now() - bornAt);
    });
  }

  return {
    current: () => current,
    async begin(): Promise<void> {
      starting = launchOne();
      try {
        await starting;
      } finally {
        starting = undefined;
      }
    },
    async stop(): Promise<void> {
      // A process that is being started is stopped too.
      await starting?.catch(() => undefined);
      await current?.stop();
    },
  };
}

export function createPart(options: PartOptions): Part {
  let wanted = false;
  let shortLives = 0;
  let timer: NodeJS.Timeout | undefined;
  const launcher = createLauncher(options, (...end) => {
    if (wanted) died(...end);
  });

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
      await launcher.begin();
      options.onBack();
    } catch (error) {
      if (wanted) died('did not start again', (error as Error).message, 0);
    }
  }

  return {
    name: options.name,
    get pid() {
      return launcher.current()?.child.pid ?? null;
    },
    get exited() {
      return launcher.current()?.child.exited ?? Promise.resolve();
    },
    isAlive: () => launcher.current()?.child.isAlive() ?? false,
    async start() {
      wanted = true;
      clearTimeout(timer);
      if (!launcher.current()) await launcher.begin();
    },
    async stop() {
      wanted = false;
      clearTimeout(timer);
      await launcher.stop();
    },
    kill(signal) {
      launcher.current()?.child.process.kill(signal);
    },
  };
}
