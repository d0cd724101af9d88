/*
 * Where jobs that have left the queue are rendered: so many ffmpeg processes at once, the others
 * wait their turn. A job's end or removal kills its process. Whatever goes wrong here ends in a
 * failure of that one job, never of the server.
 */

import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FfmpegFault, findFfmpeg } from './ffmpeg';
import type { Log } from './http';
import type { Job, JobResult, Outcome } from './jobs';
import type { MediaStore } from './media';
import { MediaFault } from './media';
import { renderEnhancement } from './render-enhancement';
import { renderGeneration } from './render-generation';

interface Parts {
  rendersMax: number;
  ffmpegPath: string | undefined;
  media: MediaStore;
  dataDir: string;
  folderOf(jobId: string): string;
  log: Log;
  onDone(job: Job, outcome: Outcome): void;
}

export function createRenderRoom(parts: Parts) {
  const turn: Job[] = [];
  const busy = new Map<string, { stop: AbortController; done: Promise<void> }>();
  let closed = false;
  // What a killed predecessor left half done.
  rmSync(workFolders(parts.dataDir), { recursive: true, force: true });

  function start(job: Job): void {
    turn.push(job);
    fill();
  }

  function fill(): void {
    while (!closed && busy.size < parts.rendersMax) {
      const job = turn.shift();
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
      outcome = { result: await renderApart(job, signal, parts) };
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
    const at = turn.indexOf(job);
    if (at >= 0) turn.splice(at, 1);
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
 * In a work folder of its own for each attempt: the ffmpeg of a killed predecessor may still be
 * writing in its last one.
 */
async function renderApart(job: Job, signal: AbortSignal, parts: Parts): Promise<JobResult> {
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
