// Starts the stand-in generator as a process and sends commands to it.

import { startServer } from './start-server';

export interface Generator {
  readonly url: string;
  readonly pid: number;
  /** Ends these tasks' jobs now and returns the time. */
  finish(taskIds: readonly string[]): Promise<number>;
  /** Starts these tasks' jobs now. */
  run(taskIds: readonly string[]): Promise<void>;
  counts(): Promise<GeneratorCounts>;
  stop(): Promise<void>;
}

interface GeneratorCounts {
  readonly creates: number;
  readonly lists: number;
}

export async function startGenerator(): Promise<Generator> {
  const { child, url } = await startServer('the generator', 'stand-in-generator.js');
  const control = async (what: string, body: unknown): Promise<unknown> => {
    const reply = await fetch(`${url}/control/${what}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`The generator refused: ${await reply.text()}`);
    return reply.json();
  };
  return {
    url,
    pid: child.pid,
    finish: async (taskIds) => ((await control('finish', { taskIds })) as { atMs: number }).atMs,
    run: async (taskIds) => void (await control('run', { taskIds })),
    counts: async () => (await control('counts', {})) as GeneratorCounts,
    stop: () => child.stop(),
  };
}
