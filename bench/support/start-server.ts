// Starts a process of the bench and waits for its first message. This message says that the process
// is ready.

import { join } from 'node:path';
import { type Child, startChild } from '../../src/embedded/child';

/** Starts a server from a file of the bench. The server sends its port in its first message. */
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
  // After the first message, no code awaits `died`. Without this handler, a later exit would be an
  // unhandled rejection.
  died.catch(() => undefined);
  return { child, message: await Promise.race([said, died]) };
}
