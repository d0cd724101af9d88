// Runs a program in another language, or an example, as a user runs it.

import { spawn } from 'node:child_process';

export interface Program {
  readonly code: Promise<number | null>;
  /** Standard output so far. */
  readonly out: () => string;
  /** Standard error so far. */
  readonly err: () => string;
  stop(): Promise<void>;
}

interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: ProgramOptions = {},
): Program {
  const { PATH = '', HOME = '' } = process.env;
  // Some commands start a child process. A process group of its own lets both be stopped together.
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { PATH, HOME, ...env },
    ...(cwd ? { cwd } : {}),
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
  });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return {
    code,
    out: () => out,
    err: () => err,
    async stop() {
      if (child.exitCode === null && child.signalCode === null && child.pid) {
        process.kill(-child.pid, 'SIGTERM');
      }
      await code;
    },
  };
}
