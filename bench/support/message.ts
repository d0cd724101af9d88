// Starts a process and waits for its first message.

import type { Child } from '../../src/embedded/child';

export async function untilMessage(
  what: string,
  start: (onMessage: (message: unknown) => void) => Child,
): Promise<{ child: Child; message: unknown }> {
  let take: (message: unknown) => void = () => undefined;
  const said = new Promise<unknown>((resolve) => {
    take = resolve;
  });
  const child = start((message) => take(message));
  const died = child.exited.then(() => {
    throw new Error(`${what} ended while starting:\n${child.lastWords()}`);
  });
  // The caller handles a later exit.
  died.catch(() => undefined);
  return { child, message: await Promise.race([said, died]) };
}
