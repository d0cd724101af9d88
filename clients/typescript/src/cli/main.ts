#!/usr/bin/env node
// The command line of the client. It exits with 0 after success, 1 after a failure, 2 if it was
// used wrongly, and 130 after Ctrl-C.

import { VideoClient } from '../client.ts';
import { VideoError } from '../error.ts';
import { clientOptions, readArguments, UsageError, usage } from './arguments.ts';
import { commands, type Run } from './commands.ts';
import { createRead } from './reads.ts';

async function main(): Promise<number> {
  const { command, operand, values } = readArguments(process.argv.slice(2));
  const act = commands[command];
  if (!act || values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const options = { ...clientOptions(process.env), onRepeat: sayRepeat };
  const client = new VideoClient(options);
  const stop = new AbortController();
  const { signal } = stop;
  const read = createRead(options, signal);
  const run: Run = { client, read, operand, values, signal, resume: '' };
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  try {
    return (await act(run)) ? 0 : 1;
  } catch (error) {
    if (run.resume) process.stderr.write(`${run.resume}\n`);
    if (stop.signal.aborted) return 130;
    throw error;
  }
}

function sayRepeat({ message }: VideoError, pauseMs: number): void {
  const lineStart = process.stderr.isTTY ? '\r\x1b[K' : '';
  process.stderr.write(`${lineStart}${message} Trying again in ${Math.ceil(pauseMs / 1_000)} s.\n`);
}

function reported(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
  const id = error instanceof VideoError && error.requestId ? ` (request ${error.requestId})` : '';
  const code = error instanceof VideoError ? `${error.code}: ` : '';
  process.stderr.write(`${code}${error instanceof Error ? error.message : String(error)}${id}\n`);
  return 1;
}

// The reader of a pipe may end first, such as `head`. Without a reader of its results the command
// ends, but a film is saved although nobody reads about its progress.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout) process.exit(process.exitCode ?? 1);
  });
}
process.exitCode = await main().catch(reported);
