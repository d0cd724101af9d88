// The type of a process in the table of main.ts: a function that starts the process and returns how
// to stop it. Only main.ts handles signals and the exit.

import type { ConfigOf, ProcessName } from '../config/config';
import type { Logger } from '../telemetry/logger';

interface Context<P extends ProcessName> {
  readonly config: ConfigOf<P>;
  readonly log: Logger;
  /** The words after the process's name on the command line. */
  readonly args: readonly string[];
}

export interface Running {
  /** Resolves when everything has stopped. Rejects if the process cannot go on. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
  /** Called at SIGHUP. Rereads the configuration that may change at run time. */
  reload?(): Promise<void>;
}

/** Returns a process that runs until `stop` is called and `close` has resolved. */
export function runsUntilStopped(close: () => Promise<void>): Running {
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    done,
    async stop() {
      await close();
      finish();
    },
  };
}

/** Returns a process that runs until it is stopped, or the exit code of a finished command. */
export type Command<P extends ProcessName> = (context: Context<P>) => Promise<Running | number>;

/** An error that an operator understands from its message. It is printed without a stack. */
export class CommandError extends Error {
  constructor(
    message: string,
    /** 1: the command failed. 2: wrong use. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CommandError';
  }
}
