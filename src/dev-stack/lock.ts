// Allows one stack per data directory: a second stack is refused. Processes that a killed stack
// left running are stopped first. A process is identified by its id and its start time, because ids
// are reused.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../commands/command';

interface Known {
  readonly pid: number;
  readonly began: string;
}

export interface StackLock {
  /** Records a part, so that the next start can stop it if this stack is killed. */
  record(name: string, pid: number): void;
  forget(name: string): void;
  release(): void;
}

export async function lockStack(dataDir: string, say: (line: string) => void): Promise<StackLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const file = join(dataDir, 'stack.lock');
  await takeOver(file, dataDir, say);
  const parts = new Map<string, Known>([['stack', know(process.pid)]]);
  const write = () =>
    writeFileSync(file, JSON.stringify(Object.fromEntries(parts)), { mode: 0o600 });
  write();
  return {
    record(name, pid) {
      parts.set(name, know(pid));
      write();
    },
    forget(name) {
      parts.delete(name);
      write();
    },
    release: () => rmSync(file, { force: true }),
  };
}

async function takeOver(file: string, dataDir: string, say: (line: string) => void): Promise<void> {
  // If two stacks start at the same moment, only one can create the file.
  try {
    writeFileSync(file, JSON.stringify({ stack: know(process.pid) }), { mode: 0o600, flag: 'wx' });
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const { stack, ...left } = readParts(file);
  if (stack && lives(stack)) {
    throw new CommandError(
      `A stack runs on ${dataDir} already (process ${stack.pid}). ` +
        'Stop it first, or set DATA_DIR to another folder.',
    );
  }
  const alive = Object.entries(left).filter(([, part]) => lives(part));
  if (alive.length > 0) {
    say(`stopping what an earlier start left running: ${alive.map(([name]) => name).join(', ')}`);
    await stopAll(alive.map(([, part]) => part));
  }
}

async function stopAll(parts: readonly Known[]): Promise<void> {
  // At SIGINT PostgreSQL ends all sessions and stops. The other parts also stop at SIGINT.
  for (const part of parts) signal(part, 'SIGINT');
  const until = Date.now() + 8_000;
  while (parts.some(lives) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const part of parts.filter(lives)) signal(part, 'SIGKILL');
}

function readParts(file: string): Record<string, Known> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Known>;
  } catch {
    return {};
  }
}

function signal({ pid }: Known, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended in the meantime.
  }
}

const know = (pid: number): Known => ({ pid, began: beginningOf(pid) });
const lives = ({ pid, began }: Known) => began !== '' && beginningOf(pid) === began;

/**
 * The start time of a process. It distinguishes the process from a later process with the same id.
 * The text is empty if the process does not run or is a zombie.
 */
function beginningOf(pid: number): string {
  try {
    if (process.platform === 'linux') {
      // The process name, in brackets, may contain spaces, so the line is cut after the closing
      // bracket. Then the first field is the state, and the start time comes 19 fields later.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return fields[0] === 'Z' ? '' : (fields[19] ?? '');
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
