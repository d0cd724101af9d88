// Processor time and memory of a process, from /proc, or from `ps` on systems without /proc.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { median } from './rounds';

interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

// Linux counts processor time in hundredths of a second and memory in pages. Both are fixed on the
// platforms Node supports.
const ticksPerSecond = 100;

export function figuresOf(pid: number): ProcessFigures {
  if (!existsSync('/proc/self/stat')) return askPs(pid);
  // The name in parentheses may contain spaces; the fields after it do not.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const cpuSeconds = (Number(stat[11]) + Number(stat[12])) / ticksPerSecond;
  return { cpuSeconds, rssBytes: Number(rss) * 1_024 };
}

function askPs(pid: number): ProcessFigures {
  const answer = execFileSync('ps', ['-o', 'rss=,time=', '-p', String(pid)], { encoding: 'utf8' });
  const [rss = '0', time = '0'] = answer.trim().split(/\s+/);
  const cpuSeconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuSeconds, rssBytes: Number(rss) * 1_024 };
}

/** Share of one core that each process used during the work. */
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

/** Median of several readings: between two collections a process grows and shrinks by megabytes. */
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
