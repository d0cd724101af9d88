/*
 * Finds an ffmpeg (FFMPEG_PATH, then PATH, then the npm package's) and runs it as a child process
 * with a time limit and a low priority, so that the server always answers. A build without libx264
 * is passed over. Whether a build is modern decides what it may decode: docs/studio.md.
 */

import { execFile, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { promisify } from 'node:util';
import type { Log } from './http';

export interface Ffmpeg {
  path: string;
  version: string;
  /** Maintained enough to be shown files of strangers. */
  isModern: boolean;
}

export class FfmpegFault extends Error {}

/** The oldest major version that still gets security fixes in the long-lived distributions. */
const MODERN_MAJOR = 5;

/** What the child is heard saying at most; the end of it is what explains a failure. */
const STDERR_CHARS_MAX = 8000;

const run = promisify(execFile);
const found = new Map<string, Promise<Ffmpeg>>();

/** Looked for once per process; a failed search is repeated, since a person may mend it. */
export function findFfmpeg(given: string | undefined, log: Log): Promise<Ffmpeg> {
  const key = given ?? '';
  const known = found.get(key);
  if (known) return known;
  const search = climb(given, log);
  found.set(key, search);
  search.catch(() => found.delete(key));
  return search;
}

async function climb(given: string | undefined, log: Log): Promise<Ffmpeg> {
  const rungs = given ? [given] : ['ffmpeg', packagedPath()];
  for (const path of rungs) {
    if (path === undefined) continue;
    const ffmpeg = await inspect(path);
    if (ffmpeg) {
      log.info({ path, version: ffmpeg.version }, 'studio: ffmpeg found');
      return ffmpeg;
    }
    if (given) throw new FfmpegFault(`${given} is not an ffmpeg with libx264.`);
  }
  throw new FfmpegFault('No ffmpeg with libx264 was found; install one or set FFMPEG_PATH.');
}

/** Undefined where the package has no binary for this platform. */
function packagedPath(): string | undefined {
  try {
    const installer: { path: string } = require('@ffmpeg-installer/ffmpeg');
    return installer.path;
  } catch {
    return undefined;
  }
}

async function inspect(path: string): Promise<Ffmpeg | undefined> {
  try {
    const { stdout } = await run(path, ['-hide_banner', '-version'], { timeout: 10_000 });
    const encoders = await run(path, ['-hide_banner', '-encoders'], { timeout: 10_000 });
    if (!encoders.stdout.includes('libx264')) return undefined;
    const version = /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? 'unknown';
    const major = Number(/^n?(\d+)\./.exec(version)?.[1] ?? 0);
    return { path, version, isModern: major >= MODERN_MAJOR };
  } catch {
    return undefined;
  }
}

interface Run {
  args: string[];
  timeoutMs: number;
  signal: AbortSignal;
}

/** Resolves with what the child said when it ended well; kills it when time or patience is over. */
export function runFfmpeg(ffmpeg: Ffmpeg, { args, timeoutMs, signal }: Run): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new FfmpegFault('The rendering was stopped.'));
    const child = spawn(ffmpeg.path, ['-hide_banner', '-nostdin', '-y', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    let isLate = false;
    const kill = () => child.kill('SIGKILL');
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeoutMs);
    signal.addEventListener('abort', kill, { once: true });
    if (child.pid !== undefined) lowerPriority(child.pid);
    child.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-STDERR_CHARS_MAX);
    });
    child.on('error', (error) => reject(error));
    child.on('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      if (code === 0) return resolve(said);
      if (isLate) return reject(new FfmpegFault(`It took longer than ${timeoutMs / 1000} s.`));
      reject(new FfmpegFault(said || `ffmpeg ended with ${code}`));
    });
  });
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 10);
  } catch {
    // It may have ended already, or the platform does not let us: a wish, not a need.
  }
}
