/*
 * From an order to the pictures of its film: a scene that comes from prompt and seed, still frames
 * that the film passes through, reference media as photographs on the scene. All are fractions of
 * the canvas, so every size looks alike.
 */

import { join } from 'node:path';
import type { Clip } from './clips';
import type { Layer } from './film';
import type { Size } from './models';
import { even } from './models';
import { drawPicture, fitPicture, framePicture, paper } from './pictures';
import type { Scene } from './scene';
import { drawLand, drawOrb, drawParticles, drawSky } from './scene-art';

export interface Stage {
  canvas: Size;
  fps: number;
  frames: number;
  seconds: number;
  /** Where this job's pictures are written. */
  folder: string;
}

/** One picture of the caller, on disk, with the name it has in messages. */
export interface Picture {
  path: string;
  label: string;
  size: Size;
}

export async function sceneLayers(scene: Scene, stage: Stage): Promise<Layer[]> {
  const { canvas, seconds } = stage;
  const { width, height } = canvas;
  const layers: Layer[] = [];
  const add = async (name: string, drawing: string, x: string, y: string) => {
    const path = join(stage.folder, `${name}.png`);
    await drawPicture(drawing, path);
    layers.push({ input: ['-i', path], x, y });
  };
  await add('sky', drawSky(scene, canvas), '0', '0');
  const wide = { width: even(width * 1.15), height };
  if (scene.particles === 'stars') {
    const slide = slideX(width, wide.width, seconds, scene.direction, 0.35);
    await add('particles', drawParticles(scene, wide), slide, '0');
  }
  const radius = Math.round(Math.min(width, height) * scene.orb.radius);
  const left = scene.orb.x * width - radius * 3;
  const top = scene.orb.y * height - radius * 3;
  const way = scene.direction * scene.orb.drift * width;
  const drift = `${fixed(left)}+${fixed(way)}*t/${fixed(seconds)}`;
  const rise = `${fixed(top)}-${fixed(height * 0.05)}*t/${fixed(seconds)}`;
  await add('orb', drawOrb(scene, radius), drift, rise);
  for (const [depth, layer] of scene.layers.entries()) {
    const size = { width: even(width * (1 + layer.travel)), height: even(height * layer.height) };
    const slide = slideX(width, size.width, seconds, scene.direction, 1);
    const swing = `(1+sin(t*${1.3 + depth * 0.4}+${depth}))`;
    const bob = `${height - size.height}+${fixed(height * layer.bob)}*${swing}`;
    await add(`land-${depth}`, drawLand(scene, depth, size), slide, bob);
  }
  if (scene.particles === 'snow' || scene.particles === 'embers') {
    const tall = { width: wide.width, height: height * 2 };
    const falls = scene.particles === 'snow' ? 1 : -1;
    const y = `${falls > 0 ? -height : 0}+${fixed(falls * height * 0.9)}*t/${fixed(seconds)}`;
    const sway = `-${fixed(width * 0.07)}+${fixed(width * 0.03)}*sin(t*0.9)`;
    await add('particles', drawParticles(scene, tall), sway, y);
  }
  return layers;
}

/** Slides a strip that is wider than the canvas, from one of its ends to the other. */
function slideX(width: number, strip: number, seconds: number, direction: number, share: number) {
  const way = (strip - width) * share;
  const step = `${fixed(way)}*t/${fixed(seconds)}`;
  return direction > 0 ? `-${fixed(way)}+${step}` : `-${step}`;
}

/**
 * Still frames: each is fully there at its moment, the first at the very first frame and the last
 * at the very last, and between two moments one dissolves into the next while both move a little.
 */
export async function stillLayers(pictures: Picture[], stage: Stage): Promise<Layer[]> {
  const { canvas, fps, frames } = stage;
  // Twice the size under the zoom: ffmpeg's zoom moves in whole pixels of its source.
  const scale = canvas.width * canvas.height <= 1_000_000 ? 2 : 1;
  const big = { width: canvas.width * scale, height: canvas.height * scale };
  const gap = (frames - 1) / Math.max(1, pictures.length - 1);
  const layers: Layer[] = [];
  for (const [at, picture] of pictures.entries()) {
    const path = join(stage.folder, `still-${at}.png`);
    // Like the original, the last frame is stretched to the size of the film, never cut.
    const fit = at > 0 && at === pictures.length - 1 ? 'fill' : 'cover';
    await fitPicture(picture.path, picture.label, big, path, fit);
    const middle = at * gap;
    const start = at === 0 ? 0 : Math.round(middle - gap * 0.75);
    const isLast = at === pictures.length - 1;
    const end = isLast ? frames : Math.min(frames, Math.round(middle + gap * 0.75) + 2);
    const count = end - start;
    const zoom = `1+0.07*abs(sin((on+${start}-${fixed(middle)})/${fixed(gap * 1.4)}))`;
    const size = `${canvas.width}x${canvas.height}`;
    const centre = "x='iw/2-iw/zoom/2':y='ih/2-ih/zoom/2'";
    layers.push({
      input: ['-i', path],
      filters: [
        `zoompan=z='${zoom}':${centre}:d=${count}:s=${size}:fps=${fps}`,
        'format=yuva420p',
        ...(at === 0 ? [] : [`fade=t=in:s=0:n=${Math.max(1, Math.round(gap * 0.5))}:alpha=1`]),
        `setpts=(N+${start})/(${fps}*TB)`,
      ],
      x: '0',
      y: '0',
    });
  }
  return layers;
}

/** Reference pictures and clips as photographs that slide in one after another and sway. */
export async function cardLayers(cards: (Picture | Clip)[], stage: Stage): Promise<Layer[]> {
  const { width, height } = stage.canvas;
  const columns = Math.ceil(Math.sqrt((cards.length * width) / height / 1.3));
  const rows = Math.ceil(cards.length / columns);
  const room = { width: (width * 0.9) / columns, height: (height * 0.6) / rows };
  const layers: Layer[] = [];
  for (const [at, card] of cards.entries()) {
    const aspect = aspectOf(card);
    const tall = Math.min(room.height * 0.8, (room.width * 0.78) / aspect);
    const inside = { width: even(tall * aspect), height: even(tall) };
    const row = Math.floor(at / columns);
    const inRow = Math.min(columns, cards.length - row * columns);
    const middleX = width / 2 + ((at % columns) - (inRow - 1) / 2) * room.width;
    const middleY = height * 0.06 + (row + 0.5) * room.height;
    const path = join(stage.folder, `card-${at}.png`);
    const size =
      'path' in card
        ? await framePicture(card.path, card.label, inside, path)
        : await paper(inside, path);
    const begin = 0.15 + at * 0.18;
    // An exponential run-out: fast in from the side, then only swaying.
    const run = `${fixed(width)}*exp(-max(0,t-${fixed(begin)})*4.5)*${at % 2 === 0 ? 1 : -1}`;
    const x = (side: number) => `${fixed(middleX - side / 2)}+${run}+${swing(width, at)}`;
    const y = (side: number) => `${fixed(middleY - side / 2)}+${swing(height, at + 1)}`;
    layers.push({ input: ['-i', path], x: x(size.width), y: y(size.height) });
    if ('path' in card) continue;
    layers.push(await playedClip(card, inside, stage, at, x(inside.width), y(inside.height)));
  }
  return layers;
}

/** A clip that plays on its paper; or a sign for it, where it must not be decoded. */
async function playedClip(
  clip: Clip,
  inside: Size,
  stage: Stage,
  at: number,
  x: string,
  y: string,
): Promise<Layer> {
  const { width, height } = inside;
  if (clip.input) {
    const fit = `scale=${width}:${height}:force_original_aspect_ratio=increase`;
    const filters = [`fps=${stage.fps}`, fit, `crop=${width}:${height}`, 'setsar=1'];
    return { input: clip.input, filters: ['setpts=PTS-STARTPTS', ...filters], x, y };
  }
  const path = join(stage.folder, `clip-${at}.png`);
  const size = Math.round(height * 0.14);
  await drawPicture(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <rect width="100%" height="100%" fill="#1d2733"/>
      <path d="M${width / 2 - size} ${height / 2 - size}l${size * 2} ${size}l${-size * 2} ${size}z"
        fill="#9fb3c8"/></svg>`,
    path,
  );
  return { input: ['-i', path], x, y };
}

function aspectOf(card: Picture | Clip): number {
  const { width, height } = 'path' in card ? card.size : card;
  return width > 0 && height > 0 ? Math.min(2.2, Math.max(0.5, width / height)) : 16 / 9;
}

function swing(length: number, at: number): string {
  return `${fixed(length * 0.008)}*sin(t*1.4+${at * 1.7})`;
}

export function fixed(value: number): string {
  return value.toFixed(2);
}
