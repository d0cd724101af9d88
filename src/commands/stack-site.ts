// What every step of a stack's start needs, and how a part of it is made: supervised or not, its
// output in the logs, its id in the lock, its deaths told.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../config';
import { startChild, untilReady } from '../embedded/child';
import type { Progress } from './progress';
import { projectFolder } from './project';
import type { StackLock } from './stack-lock';
import { reasonIn, type StackLogs } from './stack-logs';
import { createPart, type Launched, type Part } from './stack-part';
import type { Ports } from './stack-ports';

export const partNames = ['postgres', 'temporal', 'studio', 'worker', 'api'] as const;
export type PartName = (typeof partNames)[number];
export type ProcessKind = 'studio' | 'worker' | 'api';

export interface StackOptions {
  readonly dataDir: string;
  /** What was set from outside; PORT=0 takes any free port. */
  readonly environment: Environment;
  readonly without?: readonly PartName[];
  /** Parts that die are started again; tests rather do that themselves. */
  readonly supervised?: boolean;
  readonly progress?: Progress;
  readonly onGivenUp?: (error: Error) => void;
}

/** What every step of the start needs. */
export interface Site {
  readonly options: StackOptions;
  readonly dataDir: string;
  readonly progress: Progress;
  readonly lock: StackLock;
  readonly logs: StackLogs;
  readonly ports: Ports;
  readonly parts: Map<string, Part>;
  has(name: PartName): boolean;
  /** Told whenever a part has started, with the others as they were. */
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
  await site.progress.step(`starting ${title}`, async (say) => {
    await part.start();
    say(`${title} is ready`);
  });
}

export function newPart(site: Site, name: string, launch: () => Promise<Launched>): Part {
  const { options, lock, progress, parts } = site;
  const part = createPart({
    name,
    launch,
    supervised: options.supervised ?? false,
    onStarted(pid) {
      lock.note(name, pid);
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
 * What Node is started with, here, in the image and by the scripts in package.json. Its collector
 * begins with a young generation that a handful of requests fills and copies through again and
 * again; with 16 MB from the start both do with some 7 % less processor time, for some tens of
 * megabytes (docs/decisions.md, 21).
 */
export const heapFlags = ['--min-semi-space-size=16', '--max-semi-space-size=32'];

/** A process of ours tells over its channel that it is ready, and ends when the channel does. */
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
      env: { ...site.options.environment, ...environment, LOG_FORMAT: 'json' },
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

// Five seconds each for API and worker, one after the other, and three for the servers: below the
// 15 that a stop may take.
const stopWithinMs = 5_000;
export const serverStopWithinMs = 3_000;

/** From source (tests) or from dist, the processes themselves always run from dist. */
function mainFile(): string {
  const file = join(projectFolder(), 'dist', 'src', 'main.js');
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first.`);
  return file;
}
