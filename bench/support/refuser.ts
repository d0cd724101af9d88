// Starts the bare server that refuses everything.

import { join } from 'node:path';
import { startChild } from '../../src/embedded/child';
import { untilMessage } from './message';

export async function startRefuser(): Promise<{ url: string; stop(): Promise<void> }> {
  const { child, message } = await untilMessage('the bare refuser', (onMessage) =>
    startChild(process.execPath, {
      args: [join(__dirname, '..', 'bare', 'refuser.js')],
      env: {},
      onMessage,
    }),
  );
  return {
    url: `http://127.0.0.1:${(message as { port: number }).port}`,
    stop: () => child.stop('SIGKILL'),
  };
}
