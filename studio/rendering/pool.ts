/*
 * Renders the jobs that have left the queue, with a limited number of ffmpeg processes. If a job
 * ends or is deleted, its process is killed. An error fails only its own job, never the server.
 */

import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../http';
import type { Job, JobResult, Outcome } from '../jobs/job';
import { FfmpegFault, findFfmpeg } from '../media/ffmpeg';
import type { MediaStore } from '../media/media-store';
import { MediaFault } from '../media/media-store';
import { renderEnhancement } from './enhancement';
import { renderGeneration } from './generation';

interface Parts {
  rendersMax: number;
  ffmpegPath: string | undefined;
  media: MediaStore;
  dataDir: string;
  folderOf(jobId: string): string;
  log: Log;
  onDone(job: Job, outcome: Outcome): void;
}

export function createRenderPool(parts: Parts) {
  const waiting: Job[] = [];
  const busy = new Map<string, { stop: AbortController; done: Promise<void> }>();
  let closed = false;
  // Deletes the work folders that a killed studio left behind.
  rmSync(workFolders(parts.dataDir), { recursive: true, force: true });

  function start(job: Job): void {
    waiting.push(job);
    fill();
  }

  function fill(): void {
    while (!closed && busy.size < parts.rendersMax) {
      const job = waiting.shift();
      if (!job) return;
      const stop = new AbortController();
      const done = work(job, stop.signal).finally(() => {
        busy.delete(job.id);
        fill();
      });
      busy.set(job.id, { stop, done });
    }
  }

  async function work(job: Job, signal: AbortSignal): Promise<void> {
    const began = Date.now();
    let outcome: Outcome;
    try {
      outcome = { result: await renderInOwnFolder(job, signal, parts) };
      parts.log.info({ job: job.id, ms: Date.now() - began }, 'studio: rendered');
    } catch (error) {
      outcome = { failure: explain(error) };
      if (!signal.aborted) {
        parts.log.warn({ job: job.id, error: String(error) }, 'studio: a rendering failed');
      }
    }
    if (!signal.aborted) parts.onDone(job, outcome);
  }

  function stop(job: Job): void {
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
    busy.get(job.id)?.stop.abort();
  }

  async function close(): Promise<void> {
    closed = true;
    const running = [...busy.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ done }) => done));
  }

  return { start, stop, close };
}

/**
 * Renders in a new work folder. If the studio was killed before, an old ffmpeg may still write to
 * an old folder.
 */
async function renderInOwnFolder(job: Job, signal: AbortSignal, parts: Parts): Promise<JobResult> {
  const { media, log } = parts;
  const folders = workFolders(parts.dataDir);
  await mkdir(folders, { recursive: true });
  const workFolder = await mkdtemp(join(folders, `${job.id}-`));
  try {
    const ffmpeg = await findFfmpeg(parts.ffmpegPath, log);
    const tools = { ffmpeg, media, signal, workFolder, resultFolder: parts.folderOf(job.id) };
    return job.kind === 'generation'
      ? await renderGeneration(job, tools)
      : await renderEnhancement(job, tools);
  } finally {
    await rm(workFolder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function workFolders(dataDir: string): string {
  return join(dataDir, 'work');
}

function explain(error: unknown): { code: string; message: string } {
  if (error instanceof MediaFault) return { code: 'InvalidParameter', message: error.message };
  const text = String(error);
  if (/ENOSPC|no space left/i.test(text)) {
    return { code: 'InternalServiceError', message: 'The disk of the studio is full.' };
  }
  const isNoFfmpeg = error instanceof FfmpegFault && /libx264/.test(error.message);
  return {
    code: 'InternalServiceError',
    message: isNoFfmpeg ? error.message : 'The video could not be rendered.',
  };
}
