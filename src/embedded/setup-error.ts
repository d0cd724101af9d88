// The error for a server that could not be found, prepared or started. Its message says what to do,
// so it is printed without a stack.

export class SetupError extends Error {
  override readonly name = 'SetupError';

  constructor(
    message: string,
    /** The exit code. 1: the setup failed. 2: a setting is wrong. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
