// The context of the start steps, and the function that starts a part: with or without supervision,
// its output in the logs, its id in the lock, its failures reported.

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

export const partNames = ['postgres', 'temporal', 'studio', 'worker', 'api'] as const;
export type PartName = (typeof partNames)[number];
export type ProcessKind = 'studio' | 'worker' | 'api';

export interface StackOptions {
  readonly dataDir: string;
  /** Settings from outside; PORT=0 takes any free port. */
  readonly environment: Environment;
  readonly without?: readonly PartName[];
  /** `host:port` pairs that callbacks and media may also reach. */
  readonly receivers?: readonly string[];
  /** Restarts parts that die. Tests do that themselves. */
  readonly supervised?: boolean;
  readonly progress?: Progress;
  readonly onGivenUp?: (error: Error) => void;
}

/** The context of every start step. */
export interface Site {
  readonly options: StackOptions;
  readonly dataDir: string;
  readonly progress: Progress;
  readonly lock: StackLock;
  readonly logs: StackLogs;
  readonly ports: Ports;
  readonly parts: Map<string, Part>;
  has(name: PartName): boolean;
  /** Called when a part has started, with all parts that run. */
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
      lock.record(name, pid);
      site.onPartStarted();
    },
    onEnded: () => lock.forget(name),
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
 * Node's options here, in the image and in the scripts of package.json: a young generation of a fixed
 * size. A smaller one takes more processor time. With a larger one, the buffers of copied files stay
 * in memory for longer (docs/decisions.md, 21).
 */
export const heapFlags = ['--min-semi-space-size=8', '--max-semi-space-size=8'];
/** One arena of the C library, also set in the image and in package.json (docs/decisions.md, 21). */
export const heapEnvironment = { MALLOC_ARENA_MAX: '1' };

/**
 * A process of ours reports over its channel that it is ready, and stops when the channel closes.
 */
export function processPart(
  site: Site,
  name: string,
  kind: ProcessKind,
  environment: Record<string, string>,
): Part {
  return newPart(site, name, async () => {
    let isReady = false;
    const child = startChild(process.execPath, {
      args: ['--enable-source-maps', ...heapFlags, mainFile(), kind],
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

// API and worker stop one after the other in five seconds each, the servers in three: less than the
// 15 s of a stop.
const stopWithinMs = 5_000;
export const serverStopWithinMs = 3_000;

/** The processes always run from dist, even if this code runs from source (in tests). */
function mainFile(): string {
  const file = join(projectFolder(), 'dist', 'src', 'main.js');
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first.`);
  return file;
}
