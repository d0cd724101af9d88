/*
 * How the samples are drawn: landscapes as still pictures, one as a moving clip, and a chime. Each
 * maker works in a folder that is thrown away afterwards, and says which file there is the sample.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { findFfmpeg, runFfmpeg } from './ffmpeg';
import { filmArguments } from './film';
import { sceneLayers } from './generation-film';
import type { Log } from './http';
import type { Size } from './models';
import { even } from './models';
import type { Scene } from './scene';
import { designScene } from './scene';
import { drawLand, drawOrb, drawParticles, drawSky } from './scene-art';
import { writeWav } from './wav';

/** Draws a sample into the folder and returns its path. */
export type Maker = (folder: string) => Promise<string>;

interface Tools {
  ffmpegPath: string | undefined;
  log: Log;
  signal: AbortSignal;
}

const WIDE = { width: 1280, height: 720 };
const UPRIGHT = { width: 768, height: 1024 };

const CLIP_SECONDS = 4;
const CLIP_FPS = 24;
/** A drawing that takes longer hangs. */
const CLIP_MS = 60_000;

export function sampleMakers(tools: Tools): Record<string, Maker> {
  return {
    'dawn.jpg': (folder) => drawStill('a golden dawn over the hills', 7, WIDE, folder),
    'ocean.jpg': (folder) => drawStill('the ocean at noon', 11, WIDE, folder),
    'night-city.jpg': (folder) => drawStill('a neon city at night', 5, WIDE, folder),
    'forest.jpg': (folder) => drawStill('a quiet forest', 3, UPRIGHT, folder),
    'mountains.mp4': (folder) => drawClip('snow on the mountains', 2, tools, folder),
    'chime.wav': drawChime,
  };
}

async function drawClip(prompt: string, seed: number, tools: Tools, folder: string) {
  const ffmpeg = await findFfmpeg(tools.ffmpegPath, tools.log);
  const canvas = { width: 864, height: 496 };
  const [fps, seconds] = [CLIP_FPS, CLIP_SECONDS];
  const stage = { canvas, fps, seconds, frames: fps * seconds, folder };
  const scene = designScene(prompt, seed);
  const videoFile = join(folder, 'clip.mp4');
  const args = filmArguments({
    ...stage,
    size: canvas,
    background: '0x000000',
    layers: await sceneLayers(scene, stage),
    finish: [],
    overlays: [],
    sound: { chord: scene.chord },
    videoFile,
    lastFrameFile: undefined,
  });
  await runFfmpeg(ffmpeg, { args, timeoutMs: CLIP_MS, signal: tools.signal });
  return videoFile;
}

async function drawStill(prompt: string, seed: number, size: Size, folder: string) {
  const scene = designScene(prompt, seed);
  const orb = await placeOrb(scene, size);
  const particles = { input: Buffer.from(drawParticles(scene, size)), left: 0, top: 0 };
  const lands = scene.layers.map((layer, depth) => {
    const land = { width: size.width, height: even(size.height * layer.height) };
    const input = Buffer.from(drawLand(scene, depth, land));
    return { input, left: 0, top: size.height - land.height };
  });
  const picture = join(folder, 'still.jpg');
  await sharp(Buffer.from(drawSky(scene, size)))
    .composite([orb, particles, ...lands])
    .flatten()
    .jpeg({ quality: 86 })
    .toFile(picture);
  return picture;
}

/** Cut to what lies on the canvas: sharp takes no overhanging parts. */
async function placeOrb(scene: Scene, canvas: Size) {
  const radius = Math.round(Math.min(canvas.width, canvas.height) * scene.orb.radius);
  // With its glow it reaches three times as far.
  const side = radius * 6;
  const x = Math.round(scene.orb.x * canvas.width - radius * 3);
  const y = Math.round(scene.orb.y * canvas.height - radius * 3);
  const [left, top] = [Math.max(0, x), Math.max(0, y)];
  const hidden = { left: left - x, top: top - y };
  const input = await sharp(Buffer.from(drawOrb(scene, radius)))
    .extract({
      ...hidden,
      width: Math.min(side - hidden.left, canvas.width - left),
      height: Math.min(side - hidden.top, canvas.height - top),
    })
    .toBuffer();
  return { input, left, top };
}

/** Three bell notes, each a decaying pair of partials. */
async function drawChime(folder: string) {
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
  const sound = join(folder, 'chime.wav');
  await writeFile(sound, writeWav({ rate, samples }));
  return sound;
}
