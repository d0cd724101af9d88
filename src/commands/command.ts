// What a process of the table in main.ts is: a function that builds its parts and hands back how to
// stop them. It meets neither signals nor the process's end; both are main's.

import type { ConfigOf, ProcessName } from '../config';
import type { Logger } from '../telemetry';

interface Context<P extends ProcessName> {
  readonly config: ConfigOf<P>;
  readonly log: Logger;
  /** What followed the process's name on the command line. */
  readonly args: readonly string[];
}

export interface Running {
  /** Resolves when everything has stopped, rejects when it could not go on. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
  /** SIGHUP: reads again what may change while it runs. */
  reload?(): Promise<void>;
}

/** A process that serves until it is stopped, or an errand with an exit code. */
export type Command<P extends ProcessName> = (context: Context<P>) => Promise<Running | number>;

/** A failure whose sentence is all a person needs; it is printed without a stack. */
export class CommandError extends Error {
  constructor(
    message: string,
    /** 1: what was asked for is not so. 2: wrong use. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CommandError';
  }
}
