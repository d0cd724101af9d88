// The types of the processes and commands that main.ts runs. A process runs until it is stopped; a
// command ends by itself with an exit code. Only main.ts handles signals and exits.

import type { ConfigOf, ProcessName } from '../config/config';
import type { Logger } from '../telemetry/logger';

interface Context<P extends ProcessName> {
  readonly config: ConfigOf<P>;
  readonly log: Logger;
  /** The arguments after the name of the process on the command line. */
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

/**
 * Starts a process and returns the running process, or runs a command and returns its exit code.
 */
export type Command<P extends ProcessName> = (context: Context<P>) => Promise<Running | number>;

/** `not_found`: what was named does not exist. `away`: a server does not answer, so try again. */
type CommandErrorKind = 'not_found' | 'away' | 'outcome_unknown';

interface CommandErrorOptions extends ErrorOptions {
  readonly kind?: CommandErrorKind;
  /** The option or operand that is wrong. */
  readonly param?: string;
}

/** An error whose message is enough for an operator. The stack of the error is not printed. */
export class CommandError extends Error {
  readonly kind: CommandErrorKind | null;
  readonly param: string;
  constructor(
    message: string,
    /** 1: the command failed. 2: the command was called with wrong arguments or settings. */
    readonly exitCode: 1 | 2 = 1,
    { kind, param, ...options }: CommandErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'CommandError';
    this.kind = kind ?? null;
    this.param = param ?? '';
  }
}

/** What was named does not exist. */
export const notFound = (message: string): CommandError =>
  new CommandError(message, 1, { kind: 'not_found' });
