// Starts a process of the bench and waits for its first message.

import { join } from 'node:path';
import { type Child, startChild } from '../../src/embedded/child';

/** Starts a file of the bench, and reads its address from the port that it sends. */
export async function startServer(
  what: string,
  file: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ child: Child; url: string }> {
  const { child, message } = await startProcess(what, file, args, env);
  return { child, url: `http://127.0.0.1:${(message as { port: number }).port}` };
}

export async function startProcess(
  what: string,
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ child: Child; message: unknown }> {
  let take: (message: unknown) => void = () => undefined;
  const said = new Promise<unknown>((resolve) => {
    take = resolve;
  });
  const child = startChild(process.execPath, {
    args: [join(__dirname, '..', file), ...args],
    env,
    onMessage: (message) => take(message),
  });
  const died = child.exited.then(() => {
    throw new Error(`${what} ended while starting:\n${child.lastWords()}`);
  });
  // The caller handles a later exit.
  died.catch(() => undefined);
  return { child, message: await Promise.race([said, died]) };
}
