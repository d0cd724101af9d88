/*
 * Draws text as a picture: white on a translucent ground, as large as the box allows. The font
 * comes with the project, because a machine may have no fonts.
 */

import sharp from 'sharp';
import type { Size } from '../jobs/models';

const FONT_FILE = require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');

/** Writes a PNG and returns its size in pixels. */
export async function drawText(text: string, box: Size, target: string): Promise<Size> {
  const padding = Math.ceil(box.height * 0.08);
  const letters = await sharp({
    text: {
      ...{ text: `<span foreground="white">${escapeMarkup(text)}</span>`, rgba: true },
      ...{ font: 'DejaVu Sans Bold', fontfile: FONT_FILE, align: 'centre', wrap: 'word-char' },
      // Without the option `dpi`, sharp chooses the largest letters that fit into this box.
      ...{ width: box.width - 2 * padding, height: box.height - 2 * padding },
    },
  })
    .png()
    .toBuffer({ resolveWithObject: true });
  const width = letters.info.width + 2 * padding;
  const height = letters.info.height + 2 * padding;
  const background = { r: 0, g: 0, b: 0, alpha: 0.35 };
  await sharp({ create: { width, height, channels: 4, background } })
    .composite([{ input: letters.data, left: padding, top: padding }])
    .png({ compressionLevel: 1 })
    .toFile(target);
  return { width, height };
}

function escapeMarkup(text: string): string {
  // A prompt may contain control characters and unpaired surrogates. Pango refuses both.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this expression replaces them
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/\p{Surrogate}/gu, '\ufffd');
  return clean.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
