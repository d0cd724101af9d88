// Starts one part of the stack. The output of the part goes to the logs, and its process id is
// recorded in the lock. If the part dies, the terminal shows a message. Parts are restarted only if
// supervision is on.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../commands/package-info';
import type { Environment } from '../config/secret-files';
import { startChild, untilReady } from '../embedded/child';
import type { StackLock } from './lock';
import { reasonIn, type StackLogs } from './logs';
import type { Ports } from './ports';
import type { Progress } from './progress';
import { createPart, type Launched, type Part } from './supervised-process';

export const partNames = ['postgres', 'temporal', 'studio', 'worker', 'api', 'console'] as const;
export type PartName = (typeof partNames)[number];
export type ProcessKind = 'studio' | 'worker' | 'api' | 'console';

export interface StackOptions {
  readonly dataDir: string;
  /** The settings that the stack gets from its own environment. PORT=0 means any free port, also for the console. */
  readonly environment: Environment;
  readonly without?: readonly PartName[];
  /** Additional `host:port` pairs that callbacks and downloads of media may reach. */
  readonly receivers?: readonly string[];
  /** True if the data of earlier starts are moved away first. */
  readonly setAside?: boolean;
  /** True if parts that die are restarted. Tests restart parts themselves. */
  readonly supervised?: boolean;
  readonly progress?: Progress;
  readonly onGivenUp?: (error: Error) => void;
}

/** The data that each start step uses. */
export interface Site {
  readonly options: StackOptions;
  readonly dataDir: string;
  readonly progress: Progress;
  readonly lock: StackLock;
  readonly logs: StackLogs;
  readonly ports: Ports;
  readonly parts: Map<string, Part>;
  has(name: PartName): boolean;
  /** Called when a part has started or was restarted. */
  onPartStarted(): void;
}

export async function startPart(
  site: Site,
  name: PartName,
  make: () => Part,
  title: string = name,
): Promise<void> {
  if (!site.has(name)) return;
  const part = make();
  await site.progress.step(`starting ${title}`, () => part.start());
}

export function newPart(site: Site, name: string, launch: () => Promise<Launched>): Part {
  const { options, lock, progress, parts } = site;
  const part = createPart({
    name,
    launch,
    supervised: options.supervised ?? false,
    onStarted(pid) {
      lock.record(pid);
      site.onPartStarted();
    },
    onDeath: ({ how, lastWords, againInMs }) => {
      const next = againInMs === null ? '' : `; it is started again in ${againInMs / 1000} s`;
      const why = how.includes('killed') ? null : reasonIn(lastWords);
      progress.line(`${name} ${how}${next}${why ? `\n  ${why}` : ''}`);
    },
    onBack: () => progress.line(`${name} is back`),
    onGivenUp: (error) => options.onGivenUp?.(error),
  });
  parts.set(name, part);
  return part;
}

/**
 * Options of Node that fix the size of the young generation. The image and package.json set the
 * same options. A smaller size costs more processor time. With a larger size, the buffers of copied
 * files stay in memory for longer (docs/decisions.md, 21).
 */
export const heapFlags = ['--min-semi-space-size=8', '--max-semi-space-size=8'];
/**
 * Limits the C library to one memory arena. The image and package.json set the same variable
 * (docs/decisions.md, 21).
 */
export const heapEnvironment = { MALLOC_ARENA_MAX: '1' };

/**
 * Makes a part that runs one of our processes. The process reports over its IPC channel that it is
 * ready. The process stops when this IPC channel closes. `program` names the file that each start runs.
 */
export function processPart(
  site: Site,
  name: string,
  kind: ProcessKind,
  environment: Record<string, string>,
  program: () => string = mainFile,
): Part {
  return newPart(site, name, async () => {
    let isReady = false;
    const child = startChild(process.execPath, {
      args: ['--enable-source-maps', ...heapFlags, program(), kind],
      env: {
        ...{ ...site.options.environment, ...environment },
        ...{ ...heapEnvironment, LOG_FORMAT: 'json' },
      },
      cwd: projectFolder(),
      onLine: (line) => site.logs.take(name, line),
      onMessage: (message) => {
        isReady ||= message === 'ready';
      },
    });
    await untilReady(name, child, async () => isReady, 60_000);
    return { child, stop: () => child.stop('SIGTERM', stopWithinMs) };
  });
}

// A process is killed if it does not stop within 5 s, and a server if it does not stop within 3 s.
// The API, the other processes and the servers stop one after the other, so the whole stack stops
// in less than 15 s.
const stopWithinMs = 5_000;
export const serverStopWithinMs = 3_000;

/** The processes always run from dist, even in tests, which run this code from source. */
function mainFile(): string {
  const file = join(projectFolder(), 'dist', 'src', 'main.js');
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first.`);
  return file;
}
