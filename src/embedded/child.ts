// A server run as a child process: its last words are kept for the error message, it is stopped
// politely and then by force, and it never outlives its parent.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { reaped, willReap } from './reaper';
import { SetupError } from './setup-error';

interface ChildOptions {
  readonly args: readonly string[];
  /** All of its environment; without one it has ours. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly onLine?: (line: string) => void;
  /** Opens a channel for messages; the child sees it close when we die. */
  readonly onMessage?: (message: unknown) => void;
  /** What it understands as "stop now, in good order". */
  readonly stopSignal?: NodeJS.Signals;
}

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** The last lines it wrote. */
  lastWords(): string;
  isAlive(): boolean;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

const linesKept = 30;
const children = new Map<ChildProcess, NodeJS.Signals>();

// A parent that dies of an exception or calls exit takes its children along; the reaper does it
// after a kill -9.
process.on('exit', () => {
  for (const child of children.keys()) child.kill('SIGKILL');
});

export function startChild(command: string, options: ChildOptions): Child {
  const child = spawn(command, [...options.args], {
    stdio: ['ignore', 'pipe', 'pipe', ...(options.onMessage ? ['ipc' as const] : [])],
    // Apart from the terminal's group: a Ctrl-C reaches the parent only, which stops everything in
    // its order.
    detached: true,
    ...(options.env ? { env: options.env } : {}),
    ...(options.cwd ? { cwd: options.cwd } : {}),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  if (options.onMessage) child.on('message', options.onMessage);
  children.set(child, stopSignal);
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
      children.delete(child);
      if (pid) reaped(pid);
      resolve({ code, signal });
    };
    child.on('error', (error) => {
      lines.push(error.message);
      end(-1, null);
    });
    child.on('exit', end);
  });
  return {
    process: child,
    pid: child.pid ?? -1,
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
}

/**
 * Stops whatever runs, for an end in the middle of a start, when nobody holds all the parts yet.
 */
export async function stopAllChildren(graceMs: number): Promise<void> {
  const ends = [...children].map(async ([child, signal]) => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await ended;
    clearTimeout(timer);
  });
  await Promise.all(ends);
}

/**
 * Waits until `check` is true; fails when the child ends first or the time is up, with its last
 * words.
 */
export async function untilReady(
  what: string,
  child: Child,
  check: () => Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const until = Date.now() + timeoutMs;
  // Alive after the answer, too: on a port that another server held, that one may answer while ours
  // gives up.
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
