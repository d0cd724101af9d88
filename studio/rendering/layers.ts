/*
 * Makes the layers of a video: the scene, the frames, reference media as cards, the prompt as a
 * title, and the marks for drafts and for generated videos. Positions are fractions of the canvas,
 * so videos of every size look alike.
 */

import { join } from 'node:path';
import type { GenerationRequest } from '../jobs/job';
import type { Size } from '../jobs/models';
import { even, FPS } from '../jobs/models';
import type { Clip } from '../media/clips';
import { drawPicture, fitPicture } from '../media/pictures';
import type { Layer } from './composition';
import type { Part } from './scene';
import { picture } from './scene';
import { drawText } from './text-image';

export interface Stage {
  canvas: Size;
  seconds: number;
  /** The folder for this job's pictures. */
  folder: string;
}

/** A caller's picture on disk. Error messages call the picture `label`. */
export interface Picture {
  path: string;
  label: string;
  size: Size;
}

const TITLE_LETTERS_MAX = 160;
// A text of these characters only has no size, so it cannot be drawn.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\s]/gu;

/** Filters that repeat a single picture as frames, so that the picture can fade. */
const REPEATED = ['format=yuva420p', 'loop=loop=-1:size=1:start=0', `setpts=N/(${FPS}*TB)`];

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
 * Shows the caller's frames at equal intervals. The video starts exactly with the first frame and
 * ends exactly with the last frame. Between them, each frame dissolves into the next frame.
 */
export async function stillLayers(pictures: Picture[], stage: Stage): Promise<Layer[]> {
  const gap = stage.seconds / Math.max(1, pictures.length - 1);
  const layers = pictures.map(async ({ path: source, label }, at) => {
    const path = join(stage.folder, `still-${at}.png`);
    await fitPicture(source, label, stage.canvas, path);
    const dissolve = `fade=t=in:st=${fixed((at - 0.75) * gap)}:d=${fixed(gap * 0.5)}:alpha=1`;
    const filters = at === 0 ? [] : [...REPEATED, dissolve];
    return { input: ['-i', path], filters, x: '0', y: '0' };
  });
  return Promise.all(layers);
}

/** Shows reference pictures and videos as squares, side by side. */
export async function cardLayers(cards: (Picture | Clip)[], stage: Stage): Promise<Layer[]> {
  const { width, height } = stage.canvas;
  const cell = (width * 0.9) / cards.length;
  const side = even(Math.min(cell * 0.85, height * 0.5));
  const layers = cards.map(async (card, at) => {
    const middle = width / 2 + (at - (cards.length - 1) / 2) * cell;
    const content = await cardContent(card, side, join(stage.folder, `card-${at}.png`));
    return { ...content, x: fixed(middle - side / 2), y: fixed(height * 0.35 - side / 2) };
  });
  return Promise.all(layers);
}

async function cardContent(
  card: Picture | Clip,
  side: number,
  path: string,
): Promise<Pick<Layer, 'input' | 'filters'>> {
  const size = { width: side, height: side };
  if ('path' in card) {
    await fitPicture(card.path, card.label, size, path);
  } else if (card.input) {
    const fit = `scale=${side}:${side}:force_original_aspect_ratio=increase`;
    const filters = ['setpts=PTS-STARTPTS', `fps=${FPS}`, fit, `crop=${side}:${side}`, 'setsar=1'];
    return { input: card.input, filters };
  } else {
    // This ffmpeg may not open the video, so the card stays blank.
    await drawPicture(picture(size, '<rect width="100%" height="100%" fill="#1d2733"/>'), path);
  }
  return { input: ['-i', path] };
}

/**
 * Shows the prompt as a title. If the caller sent frames, the title fades out before the end,
 * because the end of the video must show the caller's image without the title.
 */
export async function titleLayers(request: GenerationRequest, stage: Stage): Promise<Layer[]> {
  if (request.prompt.replace(INVISIBLE, '') === '') return [];
  const letters = [...request.prompt.replace(/\s+/g, ' ').trim()];
  const isCut = letters.length > TITLE_LETTERS_MAX;
  const text = isCut ? `${letters.slice(0, TITLE_LETTERS_MAX - 3).join('')}…` : letters.join('');
  const { canvas, seconds } = stage;
  const path = join(stage.folder, 'title.png');
  // A short prompt gets one line; a long prompt gets up to four lines.
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
    ...REPEATED,
    'fade=t=in:st=0.3:d=0.7:alpha=1',
    ...(endsEarly ? [`fade=t=out:st=${fixed(seconds - 0.9)}:d=0.5:alpha=1`] : []),
  ];
  return [
    { input: ['-i', path], filters, x: fixed((canvas.width - size.width) / 2), y: fixed(top) },
  ];
}

/**
 * Makes the draft mark and the watermark, if the request asks for them. The PNG of the last frame
 * has neither mark.
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

function fixed(value: number): string {
  return value.toFixed(2);
}
