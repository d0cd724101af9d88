/*
 * Finds an ffmpeg with libx264. If FFMPEG_PATH is set, only that program is used. Otherwise the
 * ffmpeg on PATH is tried first, then the ffmpeg of the npm package. Runs ffmpeg as a child process
 * with a time limit. The child has a low priority, so that the server stays responsive. Only a
 * modern ffmpeg may decode files of callers (studio/README.md).
 */

import type { ExecFileException } from 'node:child_process';
import { execFile } from 'node:child_process';
import { setPriority } from 'node:os';
import { promisify } from 'node:util';
import type { Log } from '../http';

export interface Ffmpeg {
  path: string;
  version: string;
  /**
   * True if this version still gets security fixes. Only such a version may open files of callers.
   */
  isModern: boolean;
}

export class FfmpegFault extends Error {}

/** The oldest major version for which long-term support distributions still publish fixes. */
const MODERN_MAJOR = 5;

/** A child that writes more than this number of bytes to stderr is killed. */
const STDERR_BYTES_MAX = 2 ** 26;

/** An error contains only the end of stderr, because the end explains the failure. */
const EXPLANATION_CHARS_MAX = 8000;

const run = promisify(execFile);
const found = new Map<string, Promise<Ffmpeg>>();

/**
 * Keeps the result of a successful search for the whole process. After a failed search, the next
 * call searches again, because ffmpeg may have been installed since.
 */
export function findFfmpeg(given: string | undefined, log: Log): Promise<Ffmpeg> {
  const key = given ?? '';
  const known = found.get(key);
  if (known) return known;
  const search = searchFfmpeg(given, log);
  found.set(key, search);
  search.catch(() => found.delete(key));
  return search;
}

async function searchFfmpeg(given: string | undefined, log: Log): Promise<Ffmpeg> {
  const candidates = given ? [given] : ['ffmpeg', packagedPath()];
  for (const path of candidates) {
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

/** Returns undefined if the npm package has no binary for this platform. */
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
  /** If true, ffmpeg runs with normal priority, because an HTTP request waits for the result. */
  isAwaited?: boolean;
}

/**
 * Returns the child's stderr if the child exits with 0, otherwise throws a FfmpegFault. The child
 * is killed at the time limit and on abort.
 */
export async function runFfmpeg(
  ffmpeg: Ffmpeg,
  { args, timeoutMs, signal, isAwaited = false }: Run,
): Promise<string> {
  const running = run(ffmpeg.path, ['-hide_banner', '-nostdin', '-y', ...args], {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    signal,
    maxBuffer: STDERR_BYTES_MAX,
  });
  if (running.child.pid !== undefined && !isAwaited) lowerPriority(running.child.pid);
  try {
    return (await running).stderr;
  } catch (error) {
    const { killed, stderr, code } = error as ExecFileException;
    if (killed) throw new FfmpegFault(`It took longer than ${timeoutMs / 1000} s.`);
    throw new FfmpegFault(stderr?.slice(-EXPLANATION_CHARS_MAX) || `ffmpeg ended with ${code}`);
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 10);
  } catch {
    // The child may have ended, or the platform may forbid the change. Rendering also works with
    // normal priority.
  }
}
