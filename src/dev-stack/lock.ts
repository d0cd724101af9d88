// Allows one stack per data directory: a second stack is refused. Processes that a killed stack
// left running are stopped first. A process is identified by its id and its start time, because ids
// are reused.

import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../commands/command';

interface Known {
  readonly pid: number;
  readonly began: string;
}

/** The content of the lock file. */
interface Lock {
  /** Where the process ids count. Those of a container mean nothing on its host. */
  readonly where: string;
  readonly stack: Known;
  readonly parts: Readonly<Record<string, Known>>;
}

export interface StackLock {
  /** Records a part, so that the next start can stop it if this stack is killed. */
  record(name: string, pid: number): void;
  forget(name: string): void;
  release(): void;
}

export async function lockStack(dataDir: string, say: (line: string) => void): Promise<StackLock> {
  const file = join(dataDir, 'stack.lock');
  const mine = { where: here(), stack: know(process.pid) };
  const left = await prepared(dataDir, () => take(file, dataDir, mine));
  await stopLeft(left, say);
  const parts = new Map<string, Known>();
  const write = () => {
    try {
      put(file, { ...mine, parts: Object.fromEntries(parts) });
    } catch (error) {
      say(`${file} cannot be written (${codeOf(error)}).`);
    }
  };
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
    release() {
      if (isSame(read(file)?.stack, mine.stack)) rmSync(file, { force: true });
    },
  };
}

async function prepared<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o755 });
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).errno === undefined) throw error;
    throw new CommandError(
      `${dataDir} cannot be used for data (${codeOf(error)}). ` +
        'Make this user its owner, or set DATA_DIR to another folder.',
    );
  }
}

/** Takes the lock, and returns the parts that a dead stack may have left running. */
async function take(
  file: string,
  dataDir: string,
  mine: Omit<Lock, 'parts'>,
): Promise<Lock['parts']> {
  // If several stacks start at the same moment, only one can create the file.
  if (create(file, { ...mine, parts: {} })) return {};
  const found = await readWritten(file);
  refuseIfInUse(found, file, dataDir);
  // Only one of several stacks can create the file with the name of the dead stack. The lock is read
  // again, because another stack may have taken it over meanwhile.
  const taking = `${file}.${found?.stack.pid ?? 0}-${found?.stack.began ?? 0}`;
  const rival = read(taking);
  if (rival && !lives(rival.stack)) rmSync(taking, { force: true });
  if (!create(taking, mine)) throw inUse(dataDir);
  try {
    const again = read(file);
    refuseIfInUse(again, file, dataDir);
    put(file, { ...mine, parts: again?.parts ?? {} });
    return again?.parts ?? {};
  } finally {
    rmSync(taking, { force: true });
  }
}

function refuseIfInUse(found: Lock | null, file: string, dataDir: string): void {
  if (!found) return;
  if (found.where !== here()) {
    throw new CommandError(
      `A stack in another container, or outside of this one, may run on ${dataDir}. ` +
        `Stop it first. If none runs, remove ${file}.`,
    );
  }
  if (lives(found.stack)) throw inUse(dataDir, found.stack.pid);
}

function inUse(dataDir: string, pid?: number): CommandError {
  const which = pid === undefined ? '' : ` (process ${pid})`;
  return new CommandError(
    `A stack runs on ${dataDir} already${which}. Stop it first, or set DATA_DIR to another folder.`,
  );
}

async function stopLeft(left: Lock['parts'], say: (line: string) => void): Promise<void> {
  const alive = Object.entries(left).filter(([, part]) => lives(part));
  if (alive.length === 0) return;
  say(`stopping what an earlier start left running: ${alive.map(([name]) => name).join(', ')}`);
  await stopAll(alive.map(([, part]) => part));
}

async function stopAll(parts: readonly Known[]): Promise<void> {
  // At SIGINT PostgreSQL ends all sessions and stops. The other parts also stop at SIGINT.
  for (const part of parts) signal(part, 'SIGINT');
  const until = Date.now() + 8_000;
  while (parts.some(lives) && Date.now() < until) {
    await pause(50);
  }
  for (const part of parts.filter(lives)) signal(part, 'SIGKILL');
}

/** Returns false if the file exists already. */
function create(file: string, content: object): boolean {
  try {
    writeFileSync(file, JSON.stringify(content), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Replaces the file as a whole, so that nobody reads half of it. */
function put(file: string, content: Lock): void {
  writeFileSync(`${file}.draft`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.draft`, file);
}

/** Null if the file is absent or damaged. */
function read(file: string): Lock | null {
  try {
    const lock = JSON.parse(readFileSync(file, 'utf8')) as Partial<Lock>;
    return lock.stack ? (lock as Lock) : null;
  } catch {
    return null;
  }
}

/** Reads the file twice if another stack may have created it and not written it yet. */
async function readWritten(file: string): Promise<Lock | null> {
  const found = read(file);
  if (found) return found;
  await pause(300);
  return read(file);
}

function signal({ pid }: Known, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended in the meantime.
  }
}

const codeOf = (error: unknown): string =>
  String((error as NodeJS.ErrnoException).code ?? (error as Error).message);
const know = (pid: number): Known => ({ pid, began: beginningOf(pid) });
const lives = ({ pid, began }: Known) => began !== '' && beginningOf(pid) === began;
const isSame = (one: Known | undefined, other: Known) =>
  one?.pid === other.pid && one.began === other.began;

function here(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return process.platform;
  }
}

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
