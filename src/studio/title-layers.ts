/*
 * What is written on a film: the prompt as its title, and the marks of a draft and of generated
 * work.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layer } from './film';
import { fadeIn, fadeOut } from './film';
import type { Stage } from './generation-film';
import { fixed } from './generation-film';
import type { GenerationOrder } from './jobs';
import { letter } from './lettering';
import type { Size } from './models';

/** The prompt: rises, stays, and is gone before a last frame that must be somebody else's. */
export async function titleLayers(order: GenerationOrder, stage: Stage): Promise<Layer[]> {
  const text = shorten(order.prompt.trim());
  if (text === '') return [];
  const { canvas, seconds, fps } = stage;
  const isLow = order.images.length + order.videos.length > 0;
  const sizePx = titleSize(text, canvas, isLow);
  const picture = await letter({
    text,
    color: '#ffffff',
    sizePx,
    widthMax: Math.round(canvas.width * 0.84),
    heightMax: Math.round(canvas.height * (isLow ? 0.24 : 0.4)),
  });
  const path = join(stage.folder, 'title.png');
  await writeFile(path, picture.png);
  const endsEarly = order.images.some((image) => image.role !== 'reference_image');
  const gone = endsEarly ? fadeOut(seconds - 0.9, 0.5) : [];
  const middle = isLow
    ? canvas.height * 0.97 - picture.height
    : (canvas.height - picture.height) / 2;
  const settle = `${fixed(canvas.height * 0.09)}*exp(-max(0,t-0.3)*3.2)`;
  const climb = `${fixed(canvas.height * 0.012)}*t/${fixed(seconds)}`;
  const rise = `${fixed(middle)}+${settle}-${climb}`;
  return [
    {
      input: ['-i', path],
      filters: [...fadeIn(fps, 0.3, 0.7), ...gone],
      x: fixed((canvas.width - picture.width) / 2),
      y: rise,
    },
  ];
}

function titleSize(text: string, canvas: Size, isLow: boolean): number {
  const room = canvas.width * 0.84 * canvas.height * (isLow ? 0.16 : 0.28);
  const byRoom = Math.sqrt(room / (text.length * 0.95));
  const byFrame = Math.min(canvas.width, canvas.height) * (isLow ? 0.062 : 0.095);
  return Math.max(12, Math.round(Math.min(byRoom, byFrame)));
}

/** A title, not a page. */
function shorten(prompt: string): string {
  const letters = [...prompt.replace(/\s+/g, ' ')];
  return letters.length <= 160 ? letters.join('') : `${letters.slice(0, 157).join('')}…`;
}

/** Marks that belong to the file and not to the picture: the last frame is spared them. */
export async function watermarkLayers(order: GenerationOrder, stage: Stage): Promise<Layer[]> {
  if (!order.watermark) return [];
  return mark('AI generated · studio', 0.032, 'watermark', stage, (size) => ({
    x: fixed(stage.canvas.width * 0.985 - size.width),
    y: fixed(stage.canvas.height * 0.985 - size.height),
  }));
}

export async function draftLayers(order: GenerationOrder, stage: Stage): Promise<Layer[]> {
  if (!order.draft) return [];
  return mark('DRAFT', 0.11, 'draft', stage, () => ({
    x: fixed(stage.canvas.width * 0.02),
    y: fixed(stage.canvas.height * 0.01),
  }));
}

async function mark(
  text: string,
  share: number,
  name: string,
  stage: Stage,
  place: (size: Size) => { x: string; y: string },
): Promise<Layer[]> {
  const { canvas } = stage;
  const sizePx = Math.max(11, Math.round(Math.min(canvas.width, canvas.height) * share));
  const widthMax = Math.round(canvas.width * 0.6);
  const picture = await letter({ text, color: '#ffffff', sizePx, widthMax, heightMax: sizePx * 2 });
  const path = join(stage.folder, `${name}.png`);
  await writeFile(path, picture.png);
  const filters = ['format=yuva420p', 'colorchannelmixer=aa=0.75'];
  return [{ input: ['-i', path], filters, ...place(picture) }];
}
