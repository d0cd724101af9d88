/*
 * Sample media, so that examples work without any other host: four pictures, a clip and a sound.
 * The studio makes each sample when it is first needed, and keeps it. `/samples/` lists all of
 * them.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange, Log } from '../http';
import { sendJson } from '../http';
import { FPS } from '../jobs/models';
import type { Ffmpeg } from '../media/ffmpeg';
import { findFfmpeg, runFfmpeg } from '../media/ffmpeg';
import { drawJpeg } from '../media/pictures';
import { fileContent, serveContent } from '../media/serve-file';
import { ProtocolError } from '../protocol-error';
import { ffmpegArguments } from './composition';
import { sceneLayers } from './layers';
import { drawScene, drawStill } from './scene';

/** Prompt, seed, width and height of each still. */
const STILLS: Record<string, [string, number, number, number]> = {
  'dawn.jpg': ['a golden dawn over the hills', 21, 1280, 720],
  'ocean.jpg': ['the ocean at noon', 19, 1280, 720],
  'night-city.jpg': ['a neon city at night', 35, 1280, 720],
  'forest.jpg': ['a quiet forest', 18, 768, 1024],
};
const NAMES = [...Object.keys(STILLS), 'mountains.mp4', 'chime.wav'];

/** The time limit of ffmpeg for one sample. */
const MAKE_MS = 60_000;

interface SampleOptions {
  readonly folder: string;
  /** Returns the base URL of the studio, for links. */
  baseUrl(): string;
  readonly ffmpegPath: string | undefined;
  readonly log: Log;
}

export function createSamples({ folder, baseUrl, ffmpegPath, log }: SampleOptions) {
  mkdirSync(folder, { recursive: true });
  const stop = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  const addressOf = (name: string) => `${baseUrl()}/samples/${name}`;

  /** Returns the path of a sample, and makes the sample first if it does not exist. */
  async function file(name: string): Promise<string> {
    if (!NAMES.includes(name)) {
      throw new ProtocolError(404, 'NotFound', `There is no sample ${name}.`);
    }
    const path = join(folder, name);
    if (existsSync(path)) return path;
    const making = underWay.get(name) ?? make(name, path);
    underWay.set(name, making);
    await making.finally(() => underWay.delete(name));
    return path;
  }

  /**
   * Makes the sample in a work folder and then renames it, so that no request reads an incomplete
   * file.
   */
  async function make(name: string, path: string): Promise<void> {
    const workFolder = await mkdtemp(`${folder}-`);
    const target = join(workFolder, name);
    try {
      if (name in STILLS) await makeStill(name, target);
      else await makeWithFfmpeg(target, workFolder, await findFfmpeg(ffmpegPath, log), stop.signal);
      await rename(target, path);
    } finally {
      await rm(workFolder, { recursive: true, force: true });
    }
  }

  async function serve(exchange: Exchange): Promise<void> {
    const name = exchange.path.slice('/samples/'.length);
    if (name === '') return sendJson(exchange, 200, { samples: NAMES.map(addressOf) });
    await serveContent(exchange, await fileContent(await file(name)));
  }

  async function close(): Promise<void> {
    stop.abort();
    await Promise.allSettled(underWay.values());
  }

  return { file, serve, close };
}

async function makeStill(name: string, target: string): Promise<void> {
  const [prompt, seed, width, height] = STILLS[name]!;
  await drawJpeg(drawStill(prompt, seed, { width, height }), target);
}

async function makeWithFfmpeg(
  target: string,
  folder: string,
  ffmpeg: Ffmpeg,
  signal: AbortSignal,
): Promise<void> {
  const isSound = target.endsWith('.wav');
  const args = isSound ? chimeArguments(target) : await clipArguments(folder, target);
  await runFfmpeg(ffmpeg, { args, timeoutMs: MAKE_MS, signal, isAwaited: true });
}

async function clipArguments(folder: string, videoFile: string): Promise<string[]> {
  const canvas = { width: 864, height: 496 };
  const stage = { canvas, seconds: 4, folder };
  const scene = drawScene('snow on the mountains', 23, canvas);
  return ffmpegArguments({
    ...stage,
    frames: stage.seconds * FPS,
    size: canvas,
    layers: await sceneLayers(scene, stage),
    overlays: [],
    sound: [],
    videoFile,
    lastFrameFile: undefined,
  });
}

/** The sound is one note that fades away, four seconds long. */
function chimeArguments(target: string): string[] {
  const source = `aevalsrc='0.5*exp(-1.5*t)*sin(2*PI*523.25*t)':s=48000:d=4`;
  const coding = ['-c:a', 'pcm_s16le', '-fflags', '+bitexact'];
  return ['-loglevel', 'error', '-f', 'lavfi', '-i', source, ...coding, target];
}
