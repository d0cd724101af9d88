// A server that could not be found, prepared or started. Its sentence says what a person can do, so
// nobody needs a stack trace.

export class SetupError extends Error {
  override readonly name = 'SetupError';

  constructor(
    message: string,
    /** 1: it did not work out. 2: what was set is wrong. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
