/*
 * The layers of a video: the scene, first, middle and last frames, reference media as cards, the
 * prompt as a title, and the marks of a draft and of generated work. Positions are fractions of the
 * canvas, so every size looks alike.
 */

import { join } from 'node:path';
import type { GenerationRequest } from '../jobs/job';
import type { Size } from '../jobs/models';
import { even } from '../jobs/models';
import type { Clip } from '../media/clips';
import { drawPicture, fitPicture } from '../media/pictures';
import type { Layer } from './composition';
import type { Part } from './scene';
import { drawText } from './text-image';

export interface Stage {
  canvas: Size;
  fps: number;
  frames: number;
  seconds: number;
  /** The folder for this job's pictures. */
  folder: string;
}

/** A caller's picture on disk; `label` names it in error messages. */
export interface Picture {
  path: string;
  label: string;
  size: Size;
}

const TITLE_LETTERS_MAX = 160;

export async function sceneLayers(scene: Part[], stage: Stage): Promise<Layer[]> {
  const parts = scene.map(async ({ svg, left, top, travel }, at) => {
    const path = join(stage.folder, `scene-${at}.png`);
    await drawPicture(svg, path);
    const x = `${fixed(left)}+${fixed(travel)}*t/${fixed(stage.seconds)}`;
    return { input: ['-i', path], x, y: fixed(top) };
  });
  return Promise.all(parts);
}

/**
 * Frames at even distances. The video starts exactly on the first and ends exactly on the last; in
 * between, each dissolves into the next while both grow a little.
 */
export async function stillLayers(pictures: Picture[], stage: Stage): Promise<Layer[]> {
  const { canvas, fps, frames } = stage;
  // ffmpeg zooms in whole pixels of its source, so a source of twice the size moves smoothly.
  const scale = canvas.width * canvas.height <= 1_000_000 ? 2 : 1;
  const big = { width: canvas.width * scale, height: canvas.height * scale };
  const gap = (frames - 1) / Math.max(1, pictures.length - 1);
  const layers = pictures.map(async ({ path: source, label }, at) => {
    const path = join(stage.folder, `still-${at}.png`);
    const isLast = at > 0 && at === pictures.length - 1;
    // Like the original, the last frame is stretched to the size of the video, never cropped.
    await fitPicture(source, label, big, path, { fit: isLast ? 'fill' : 'cover' });
    const middle = at * gap;
    const start = at === 0 ? 0 : Math.round(middle - gap * 0.75);
    const zoom = `1+0.07*abs(sin((on+${start}-${fixed(middle)})/${fixed(gap * 1.4)}))`;
    const centre = "x='iw/2-iw/zoom/2':y='ih/2-ih/zoom/2'";
    const size = `${canvas.width}x${canvas.height}`;
    const dissolve = `fade=t=in:s=0:n=${Math.max(1, Math.round(gap * 0.5))}:alpha=1`;
    const filters = [
      `zoompan=z='${zoom}':${centre}:d=${frames - start}:s=${size}:fps=${fps}`,
      ...(at === 0 ? [] : ['format=yuva420p', dissolve]),
      `setpts=(N+${start})/(${fps}*TB)`,
    ];
    return { input: ['-i', path], filters, x: '0', y: '0' };
  });
  return Promise.all(layers);
}

/** Reference pictures and videos, side by side in rows, each with a white border. */
export async function cardLayers(cards: (Picture | Clip)[], stage: Stage): Promise<Layer[]> {
  const { width, height } = stage.canvas;
  const columns = Math.ceil(Math.sqrt((cards.length * width) / height / 1.3));
  const rows = Math.ceil(cards.length / columns);
  const cell = { width: (width * 0.9) / columns, height: (height * 0.6) / rows };
  const border = even(height * 0.01);
  const layers = cards.map(async (card, at) => {
    const aspect = aspectOf(card);
    const tall = Math.min(cell.height * 0.85, (cell.width * 0.85) / aspect);
    const inside = { width: even(tall * aspect), height: even(tall) };
    const row = Math.floor(at / columns);
    const inRow = Math.min(columns, cards.length - row * columns);
    const middleX = width / 2 + ((at % columns) - (inRow - 1) / 2) * cell.width;
    const middleY = height * 0.05 + (row + 0.5) * cell.height;
    return {
      ...(await cardContent(card, inside, border, join(stage.folder, `card-${at}.png`), stage.fps)),
      x: fixed(middleX - inside.width / 2 - border),
      y: fixed(middleY - inside.height / 2 - border),
    };
  });
  return Promise.all(layers);
}

async function cardContent(
  card: Picture | Clip,
  inside: Size,
  border: number,
  path: string,
  fps: number,
): Promise<Pick<Layer, 'input' | 'filters'>> {
  const { width, height } = inside;
  if ('path' in card) {
    await fitPicture(card.path, card.label, inside, path, { border });
    return { input: ['-i', path] };
  }
  const pad = `pad=${width + 2 * border}:${height + 2 * border}:${border}:${border}:white`;
  if (card.input) {
    const fit = `scale=${width}:${height}:force_original_aspect_ratio=increase`;
    const crop = `crop=${width}:${height}`;
    return {
      input: card.input,
      filters: ['setpts=PTS-STARTPTS', `fps=${fps}`, fit, crop, 'setsar=1', pad],
    };
  }
  // This ffmpeg may not open the video, so a play sign is shown instead.
  const [x, y, side] = [width / 2, height / 2, height * 0.15];
  const sign = `M${x - side} ${y - side}l${side * 2} ${side}l${-side * 2} ${side}z`;
  const drawing = `<rect width="100%" height="100%" fill="#1d2733"/><path d="${sign}" fill="#9fb3c8"/>`;
  const size = `width="${width}" height="${height}"`;
  await drawPicture(`<svg xmlns="http://www.w3.org/2000/svg" ${size}>${drawing}</svg>`, path);
  return { input: ['-i', path], filters: [pad] };
}

/** The prompt as a title. It fades out early if the last frame must show the caller's image. */
export async function titleLayers(request: GenerationRequest, stage: Stage): Promise<Layer[]> {
  const letters = [...request.prompt.replace(/\s+/g, ' ').trim()];
  if (letters.length === 0) return [];
  const isCut = letters.length > TITLE_LETTERS_MAX;
  const text = isCut ? `${letters.slice(0, TITLE_LETTERS_MAX - 3).join('')}…` : letters.join('');
  const { canvas, seconds, fps } = stage;
  const path = join(stage.folder, 'title.png');
  // A short prompt gets one line, a long one up to four.
  const lines = Math.min(4, Math.ceil(text.length / 30));
  const box = {
    width: Math.round(canvas.width * 0.84),
    height: Math.round(canvas.height * (0.1 + lines * 0.05)),
  };
  const size = await drawText(text, box, path);
  const isLow = request.images.length + request.videos.length > 0;
  const top = isLow ? canvas.height * 0.97 - size.height : (canvas.height - size.height) / 2;
  const endsEarly = request.images.some((image) => image.role !== 'reference_image');
  const filters = [
    ...['format=yuva420p', 'loop=loop=-1:size=1:start=0', `setpts=N/(${fps}*TB)`],
    'fade=t=in:st=0.3:d=0.7:alpha=1',
    ...(endsEarly ? [`fade=t=out:st=${fixed(seconds - 0.9)}:d=0.5:alpha=1`] : []),
  ];
  return [
    { input: ['-i', path], filters, x: fixed((canvas.width - size.width) / 2), y: fixed(top) },
  ];
}

/**
 * The layers that mark a video as a draft, and as generated. The last frame as a PNG has neither.
 */
export async function markLayers(request: GenerationRequest, stage: Stage): Promise<Layer[]> {
  const { width, height } = stage.canvas;
  const layers: Layer[] = [];
  const mark = async (name: string, text: string, share: number, isAtEnd: boolean) => {
    const path = join(stage.folder, `${name}.png`);
    const box = {
      width: Math.round(width * 0.5),
      height: Math.round(Math.min(width, height) * share),
    };
    const size = await drawText(text, box, path);
    const margin = Math.round(height * 0.01);
    const x = isAtEnd ? width - size.width - margin : margin;
    const y = isAtEnd ? height - size.height - margin : margin;
    layers.push({ input: ['-i', path], x: fixed(x), y: fixed(y) });
  };
  if (request.draft) await mark('draft', 'DRAFT', 0.16, false);
  if (request.watermark) await mark('watermark', 'AI generated · studio', 0.05, true);
  return layers;
}

function aspectOf(card: Picture | Clip): number {
  const { width, height } = 'path' in card ? card.size : card;
  return width > 0 && height > 0 ? Math.min(2.2, Math.max(0.5, width / height)) : 16 / 9;
}

function fixed(value: number): string {
  return value.toFixed(2);
}
