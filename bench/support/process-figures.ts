// Reads the processor time and the memory of a process from /proc. On systems without /proc, `ps`
// is used.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { median } from './rounds';

interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

// /proc counts processor time in hundredths of a second, on all platforms that Node supports.
const ticksPerSecond = 100;

export function figuresOf(pid: number): ProcessFigures {
  if (!existsSync('/proc/self/stat')) return askPs(pid);
  const [user = 0, system = 0] = statOf(pid).slice(11, 13);
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const cpuSeconds = (user + system) / ticksPerSecond;
  return { cpuSeconds, rssBytes: Number(rss) * 1_024 };
}

/**
 * The processor time of a process and its children, including ended children. Works only on Linux.
 */
export function familyCpuSeconds(pid: number): number {
  const ended = statOf(pid).slice(13, 15).reduce(sum);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  const alive = children.filter(Boolean).map((child) => {
    try {
      return figuresOf(Number(child)).cpuSeconds;
    } catch {
      return 0; // The child has just ended.
    }
  });
  return figuresOf(pid).cpuSeconds + ended / ticksPerSecond + alive.reduce(sum, 0);
}

const sum = (a: number, b: number) => a + b;

/** Returns the fields after the process name. The name is in parentheses and may contain spaces. */
function statOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return (text.split(') ').at(-1)?.split(' ') ?? []).map(Number);
}

function askPs(pid: number): ProcessFigures {
  const answer = execFileSync('ps', ['-o', 'rss=,time=', '-p', String(pid)], { encoding: 'utf8' });
  const [rss = '0', time = '0'] = answer.trim().split(/\s+/);
  const cpuSeconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuSeconds, rssBytes: Number(rss) * 1_024 };
}

/** Runs the work and returns the cores that each process used meanwhile; 0.5 is half a core. */
export async function coresUsed(
  pids: readonly number[],
  work: () => Promise<unknown>,
): Promise<{ readonly cores: readonly number[]; readonly seconds: number }> {
  const before = pids.map(figuresOf);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1_000;
  const cores = pids.map(
    (pid, index) => (figuresOf(pid).cpuSeconds - (before[index]?.cpuSeconds ?? 0)) / seconds,
  );
  return { cores, seconds };
}

/** The median of several readings, because garbage collection changes the memory by megabytes. */
export async function settledRss(pid: number): Promise<number> {
  const samples: number[] = [];
  for (let check = 0; check < 5; check += 1) {
    samples.push(figuresOf(pid).rssBytes);
    await pause(400);
  }
  return median(samples);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function pidOf(part: { readonly name: string; readonly pid: number | null }): number {
  if (part.pid === null) throw new Error(`${part.name} is not running.`);
  return part.pid;
}
