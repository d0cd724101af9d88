// Starts processes of the system as a user does: from dist, and without the environment variables
// of the test run.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from './until';

export interface RunningProcess {
  readonly pid: number;
  /** Standard output and standard error together, in the order of arrival. */
  said(): string;
  /** Standard output alone. */
  out(): string;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
  hasEnded(): boolean;
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

const main = resolve(__dirname, '../../dist/src/main.js');
const root = resolve(__dirname, '../..');
const started = new Set<ChildProcess>();

/**
 * Starts a process in its own process group. A test can then kill the whole group, as a crash or a
 * closed terminal does.
 */
export function startProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = [],
): RunningProcess {
  const child = spawn(process.execPath, [...nodeArgs, main, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  started.add(child);
  const text = { out: '', err: '', both: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
    text.both += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
    text.both += chunk;
  });
  let over = false;
  const ended = new Promise<Ended>((done) => {
    child.on('close', (code, signal) => {
      over = true;
      started.delete(child);
      done({ code, signal, out: text.out, err: text.err });
    });
  });
  return {
    pid: child.pid ?? -1,
    said: () => text.both,
    out: () => text.out,
    signal: (name) => void child.kill(name),
    ended,
    hasEnded: () => over,
  };
}

/** Runs a process that ends by itself, and waits for its end. */
export function runProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return startProcess(args, environment).ended;
}

/** Kills the processes that a failed test left. */
export async function endAllProcesses(): Promise<void> {
  for (const child of started) child.kill('SIGKILL');
  await until('everything has ended', () => started.size === 0);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie process counts as ended: its parent has only not collected its exit code yet.
    return !existsSync('/proc/self') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

export interface DataDir {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: dev.json as it is; a wrong guess fails the expectation
  devFile(): any;
  remove(): Promise<void>;
}

/**
 * A new folder for data. PostgreSQL may run as another user, so every user may enter its parents.
 */
export async function aDataDir(): Promise<DataDir> {
  const path = await mkdtemp(join(tmpdir(), 'video-stack-'));
  await chmod(path, 0o755);
  return {
    path,
    devFile() {
      try {
        return JSON.parse(readFileSync(join(path, 'dev.json'), 'utf8'));
      } catch {
        return null;
      }
    },
    // The child processes of a killed program may still write for a moment.
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 10 }),
  };
}
