/*
 * Media for examples, so that they work without any other host: four pictures, a clip and a sound, all
 * drawn by the studio itself when first needed and kept. `/samples/` lists them.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { findFfmpeg, runFfmpeg } from './ffmpeg';
import { filmArguments } from './film';
import { sceneLayers } from './generation-film';
import type { Exchange, Log } from './http';
import { sendJson } from './http';
import type { Size } from './models';
import { even } from './models';
import { ProtocolError } from './protocol-error';
import { serveFile } from './result-files';
import { designScene } from './scene';
import { drawLand, drawOrb, drawParticles, drawSky } from './scene-art';
import { writeWav } from './wav';

const WIDE = { width: 1280, height: 720 };
const UPRIGHT = { width: 768, height: 1024 };
const CLIP_SECONDS = 4;
const CLIP_MS = 60_000;

type Maker = (target: string) => Promise<void>;

export function createSamples(folder: string, ffmpegPath: string | undefined, log: Log) {
  mkdirSync(folder, { recursive: true });
  const stop = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  const makers: Record<string, Maker> = {
    'dawn.jpg': (target) => drawStill('a golden dawn over the hills', 7, WIDE, target),
    'ocean.jpg': (target) => drawStill('the ocean at noon', 11, WIDE, target),
    'night-city.jpg': (target) => drawStill('a neon city at night', 5, WIDE, target),
    'forest.jpg': (target) => drawStill('a quiet forest', 3, UPRIGHT, target),
    'mountains.mp4': drawClip,
    'chime.wav': drawChime,
  };

  /** The sample's file, made now if it is not there yet; a refusal for any other name. */
  async function file(name: string): Promise<string> {
    const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
    if (!make) throw new ProtocolError(404, 'NotFound', `There is no sample ${name}.`);
    const path = join(folder, name);
    if (existsSync(path)) return path;
    const making = underWay.get(name) ?? produce(make, path);
    underWay.set(name, making);
    await making.finally(() => underWay.delete(name));
    return path;
  }

  /** Written elsewhere and moved in: a reader never meets half a file. */
  async function produce(make: Maker, path: string): Promise<void> {
    const draft = await mkdtemp(`${folder}-`);
    try {
      const name = join(draft, path.slice(folder.length + 1));
      await make(name);
      await rename(name, path);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  async function drawClip(target: string): Promise<void> {
    const ffmpeg = await findFfmpeg(ffmpegPath, log);
    const canvas = { width: 864, height: 496 };
    const workFolder = await mkdtemp(`${folder}-`);
    const [fps, seconds] = [24, CLIP_SECONDS];
    const stage = { canvas, fps, seconds, frames: fps * seconds, folder: workFolder };
    const scene = designScene('snow on the mountains', 2);
    try {
      const args = filmArguments({
        ...stage,
        size: canvas,
        background: '0x000000',
        layers: await sceneLayers(scene, stage),
        finish: [],
        overlays: [],
        sound: { chord: scene.chord },
        videoFile: target,
        lastFrameFile: undefined,
      });
      await runFfmpeg(ffmpeg, { args, timeoutMs: CLIP_MS, signal: stop.signal });
    } finally {
      await rm(workFolder, { recursive: true, force: true });
    }
  }

  async function serve(exchange: Exchange): Promise<void> {
    const name = exchange.path.slice('/samples/'.length);
    if (name === '') return sendJson(exchange, 200, { samples: Object.keys(makers) });
    await serveFile(exchange, await file(name));
  }

  /** In the background, one after another, so that the first start is not slowed. */
  async function prepareAll(): Promise<void> {
    for (const name of Object.keys(makers)) {
      if (stop.signal.aborted) return;
      await file(name).catch((error: unknown) => {
        log.warn({ sample: name, error: String(error) }, 'studio: a sample could not be made');
      });
    }
  }

  let preparing: Promise<void> = Promise.resolve();

  return {
    file,
    serve,
    prepare(): void {
      preparing = prepareAll();
    },
    async close(): Promise<void> {
      stop.abort();
      await Promise.allSettled([preparing, ...underWay.values()]);
    },
  };
}

async function drawStill(prompt: string, seed: number, size: Size, target: string): Promise<void> {
  const scene = designScene(prompt, seed);
  const { width, height } = size;
  const radius = Math.round(Math.min(width, height) * scene.orb.radius);
  const orb = await sharp(Buffer.from(drawOrb(scene, radius)))
    .extract(
      visible(
        scene.orb.x * width - radius * 3,
        scene.orb.y * height - radius * 3,
        radius * 6,
        size,
      ),
    )
    .toBuffer();
  const parts = [
    {
      input: orb,
      left: Math.max(0, Math.round(scene.orb.x * width - radius * 3)),
      top: Math.max(0, Math.round(scene.orb.y * height - radius * 3)),
    },
    { input: Buffer.from(drawParticles(scene, size)), left: 0, top: 0 },
    ...scene.layers.map((layer, depth) => {
      const land = { width, height: even(height * layer.height) };
      return {
        input: Buffer.from(drawLand(scene, depth, land)),
        left: 0,
        top: height - land.height,
      };
    }),
  ];
  await sharp(Buffer.from(drawSky(scene, size)))
    .composite(parts)
    .flatten()
    .jpeg({ quality: 86 })
    .toFile(target);
}

/** The part of a square picture that lies on the canvas: sharp takes no overhanging parts. */
function visible(x: number, y: number, side: number, canvas: Size) {
  const left = Math.max(0, -Math.round(x));
  const top = Math.max(0, -Math.round(y));
  const width = Math.min(side - left, canvas.width - Math.max(0, Math.round(x)));
  const height = Math.min(side - top, canvas.height - Math.max(0, Math.round(y)));
  return { left, top, width, height };
}

/** Three bell notes, each a decaying pair of partials. */
async function drawChime(target: string): Promise<void> {
  const rate = 48_000;
  const samples = new Float32Array(rate * 4);
  for (const [note, hertz] of [523.25, 659.25, 783.99].entries()) {
    const start = Math.round(note * 0.45 * rate);
    for (let at = start; at < samples.length; at += 1) {
      const t = (at - start) / rate;
      const tone =
        Math.sin(2 * Math.PI * hertz * t) + 0.4 * Math.sin(2 * Math.PI * hertz * 2.76 * t);
      samples[at]! += 0.22 * tone * Math.exp(-t * 2.2);
    }
  }
  await writeFile(target, writeWav({ rate, samples }));
}
