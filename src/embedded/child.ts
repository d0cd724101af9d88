// Runs a server as a child process, and keeps the child's last lines for an error message. A stop
// sends a signal, and kills the child if the child does not end in time. The child never outlives
// this process.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { reaped, willReap } from './reaper';
import { SetupError } from './setup-error';

interface ChildOptions {
  readonly args: readonly string[];
  /** The whole environment of the child; by default the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly onLine?: (line: string) => void;
  /**
   * If this function is given, an IPC channel is opened. The IPC channel closes when this process
   * ends, so the child notices the end.
   */
  readonly onMessage?: (message: unknown) => void;
  /** The signal at which the child shuts down cleanly. */
  readonly stopSignal?: NodeJS.Signals;
}

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** The last lines that the child wrote. */
  lastWords(): string;
  isAlive(): boolean;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

const linesKept = 30;
const children = new Set<Child>();

export function startChild(command: string, options: ChildOptions): Child {
  const { env, cwd, uid, gid, stopSignal = 'SIGTERM' } = options;
  const child = spawn(command, [...options.args], {
    env,
    cwd,
    uid,
    gid,
    stdio: ['ignore', 'pipe', 'pipe', ...(options.onMessage ? ['ipc' as const] : [])],
    // The child is in a process group of its own. Ctrl-C then reaches only the parent, which stops
    // all children in order.
    detached: true,
  });
  if (options.onMessage) child.on('message', options.onMessage);
  const { pid } = child;
  if (pid) willReap(pid, stopSignal);
  const lines: string[] = [];
  const take = (line: string) => {
    if (line.trim() === '') return;
    lines.push(line);
    if (lines.length > linesKept) lines.shift();
    options.onLine?.(line);
  };
  for (const input of [child.stdout, child.stderr]) {
    if (input) createInterface({ input }).on('line', take);
  }
  let alive = true;
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    const end = (code: number | null, signal: string | null) => {
      alive = false;
      children.delete(started);
      if (pid) reaped(pid);
      resolve({ code, signal });
    };
    child.on('error', (error) => {
      lines.push(error.message);
      end(-1, null);
    });
    child.on('exit', end);
  });
  const started: Child = {
    process: child,
    pid: pid ?? -1,
    lastWords: () => lines.join('\n'),
    isAlive: () => alive,
    exited,
    async stop(signal = stopSignal, graceMs = 5_000) {
      if (!alive) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
  children.add(started);
  return started;
}

/**
 * Stops all running children. Used when a start fails, because a failed start does not return its
 * children to the caller.
 */
export async function stopAllChildren(graceMs: number): Promise<void> {
  await Promise.all([...children].map((child) => child.stop(undefined, graceMs)));
}

/**
 * Waits until `check` is true. Fails with the child's last lines if the child ends first or the
 * time is up.
 */
export async function untilReady(
  what: string,
  child: Child,
  check: () => Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const until = Date.now() + timeoutMs;
  // The child must still run after the check. Another server may use the port and answer the check
  // while our child ends.
  while (!((await check().catch(() => false)) && child.isAlive())) {
    if (!child.isAlive()) {
      throw new SetupError(`${what} ended while starting:\n${child.lastWords()}`);
    }
    if (Date.now() > until) {
      await child.stop('SIGKILL');
      const late = `${what} was not ready within ${timeoutMs / 1000} s`;
      throw new SetupError(`${late}:\n${child.lastWords()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
