// Allows one stack per data folder. The first line of the lock file names the process that holds
// it, and each further line a process that it has started. The holder renews the time of the file:
// a lock that nobody renews is free, also if another process has the number of a dead holder.

import { appendFileSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../commands/command';

export interface StackLock {
  /** Notes a process, whose end the next start waits for if this stack is killed. */
  record(pid: number): void;
  release(): void;
}

const renewMs = 5_000;
const staleMs = 6 * renewMs;
// A killed stack's processes are stopped within three seconds (embedded/reaper.ts).
const leftMsMax = 15_000;
// In a container each stack may have the same number, so the time of its start tells them apart.
const holder = `${process.pid} ${hostname()} ${performance.timeOrigin}`;

/** `onLost` is called if another stack has taken the lock, because this one was frozen too long. */
export async function lockStack(
  dataDir: string,
  onLost: (error: Error) => void = () => undefined,
): Promise<StackLock> {
  const file = join(dataDir, 'stack.lock');
  const isOurs = () => [holder, undefined].includes(linesOf(file)[0]);
  const left = await take(file, dataDir);
  await untilEnded(left, dataDir);
  const renewing = setInterval(() => {
    if (isOurs()) return quietly(() => utimesSync(file, new Date(), new Date()));
    clearInterval(renewing);
    onLost(new Error(`Another stack has taken ${file} meanwhile.`));
  }, renewMs).unref();
  return {
    // Without its folder, or on a full disk, the stack goes on.
    record: (pid) => quietly(() => appendFileSync(file, `${pid}\n`)),
    release() {
      clearInterval(renewing);
      if (isOurs()) rmSync(file, { force: true });
    },
  };
}

/** Takes the lock, and returns the processes of a dead stack. */
async function take(file: string, dataDir: string): Promise<readonly number[]> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o755 });
    const [owner, ...left] = linesOf(file);
    const [pid, host] = owner?.split(' ') ?? [];
    const isHere = host === hostname();
    const isFresh = owner !== undefined && Date.now() - statSync(file).mtimeMs < staleMs;
    if (isFresh && (!isHere || owner === holder || isAnother(Number(pid)))) {
      throw inUse(dataDir, isHere ? `process ${pid}` : `process ${pid} of ${host}`);
    }
    rmSync(file, { force: true });
    writeFileSync(file, `${holder}\n`, { mode: 0o600, flag: 'wx' });
    return isHere ? left.map(Number) : [];
  } catch (error) {
    const { code, errno, path } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    if (code === 'EEXIST' && path === file) throw inUse(dataDir, 'it is just starting');
    throw new CommandError(
      `${dataDir} cannot be used for data (${code}). ` +
        'Make this user its owner, or set DATA_DIR to another folder.',
    );
  }
}

function inUse(dataDir: string, which: string): CommandError {
  return new CommandError(
    `A stack runs on ${dataDir} already (${which}). Stop it first, or set DATA_DIR to another ` +
      `folder. If it was killed, start again in ${staleMs / 1_000} s.`,
  );
}

async function untilEnded(pids: readonly number[], dataDir: string): Promise<void> {
  for (const until = Date.now() + leftMsMax; pids.some(isAnother); await pause(50)) {
    if (Date.now() < until) continue;
    const left = pids.filter(isAnother).join(', ');
    throw new CommandError(`Processes of an earlier stack on ${dataDir} still run (${left}).`);
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function isAnother(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The folder was removed, or its disk is full.
  }
}
