// Allows one stack per data directory: a second stack is refused. Processes that a killed stack
// left running are stopped first. A process is identified by its id and its start time, because ids
// are reused.

import { execFileSync } from 'node:child_process';
import {
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../commands/command';

interface Known {
  readonly pid: number;
  readonly began: string;
}

/** The content of the lock file. The stack renews the time of the file while it lives. */
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

const renewMs = 5_000;
/** A stack whose process cannot be seen from here has ended if its lock is older than this. */
const staleMs = 6 * renewMs;

/** `onLost` is called if another stack has taken the lock, because this one was frozen for too long. */
export async function lockStack(
  dataDir: string,
  say: (line: string) => void,
  onLost: (error: Error) => void = () => undefined,
): Promise<StackLock> {
  const file = join(dataDir, 'stack.lock');
  const mine = { where: here(), stack: know(process.pid) };
  const left = await prepared(dataDir, () => take(file, dataDir, mine));
  await stopLeft(left, say);
  const parts = new Map<string, Known>();
  const isOurs = () => {
    const found = read(file);
    return !found || isSame(found.stack, mine.stack);
  };
  const write = () => {
    if (!isOurs()) return;
    try {
      put(file, { ...mine, parts: Object.fromEntries(parts) });
    } catch (error) {
      say(`${file} cannot be written (${codeOf(error)}).`);
    }
  };
  write();
  const renewing = setInterval(() => {
    if (isOurs()) return renew(file);
    clearInterval(renewing);
    return onLost(new Error(`Another stack has taken ${file} meanwhile.`));
  }, renewMs).unref();
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
      clearInterval(renewing);
      if (isOurs()) rmSync(file, { force: true });
    },
  };
}

async function prepared<T>(dataDir: string, work: () => T): Promise<T> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o755 });
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).errno === undefined) throw error;
    throw new CommandError(
      `${dataDir} cannot be used for data (${codeOf(error)}). ` +
        'Make this user its owner, or set DATA_DIR to another folder.',
    );
  }
}

/** Takes the lock, and returns the parts that a dead stack may have left running. */
function take(file: string, dataDir: string, mine: Omit<Lock, 'parts'>): Lock['parts'] {
  // If several stacks start at the same moment, only one can create the file.
  if (create(file, { ...mine, parts: {} })) return {};
  const found = read(file);
  refuseIfInUse(found, file, dataDir);
  // Only one of several stacks can create the file with the number of the dead stack. The lock is read
  // again, because another stack may have taken it over meanwhile.
  const taking = `${file}.after-${found?.stack.pid ?? 0}`;
  const rival = read(taking);
  if (rival && !lives(rival.stack)) rmSync(taking, { force: true });
  if (!create(taking, { ...mine, parts: {} })) throw inUse(dataDir);
  try {
    const again = read(file);
    refuseIfInUse(again, file, dataDir);
    // Process ids of another container mean nothing here.
    const parts = again && isHere(again) ? again.parts : {};
    put(file, { ...mine, parts });
    return parts;
  } finally {
    rmSync(taking, { force: true });
  }
}

function refuseIfInUse(found: Lock | null, file: string, dataDir: string): void {
  if (!found) return;
  if (isHere(found)) {
    if (lives(found.stack)) throw inUse(dataDir, found.stack.pid);
  } else if (ageOf(file) < staleMs) {
    throw new CommandError(
      `A stack in another container, or outside of this one, runs on ${dataDir}. Stop it first. ` +
        `If it was killed, start again in ${staleMs / 1_000} s.`,
    );
  }
}

const isHere = ({ where = here() }: Partial<Lock>) => where === here();

function ageOf(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function renew(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // The folder was removed.
  }
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

/** Returns false if the file exists already. Nobody reads half of a file. */
function create(file: string, content: Lock): boolean {
  const draft = draftOf(file, content);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function put(file: string, content: Lock): void {
  renameSync(draftOf(file, content), file);
}

function draftOf(file: string, content: Lock): string {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
  return draft;
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
const isSame = (one: Known, other: Known) => one.pid === other.pid && one.began === other.began;

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
