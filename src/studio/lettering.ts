/*
 * Letters as pictures with a transparent ground. The font comes with the project, so that text
 * looks the same on a machine without any fonts; the text goes through Pango, which wraps and
 * shapes it.
 */

import sharp from 'sharp';

const FONT_FILE = require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');

interface Lettering {
  text: string;
  color: string;
  sizePx: number;
  widthMax: number;
  heightMax: number;
}

interface Picture {
  png: Buffer;
  width: number;
  height: number;
}

/** Letters with a soft shadow, so that they can be read on any ground. */
export async function letter(lettering: Lettering): Promise<Picture> {
  const plain = await setText(lettering);
  const pad = Math.ceil(lettering.sizePx * 0.5);
  const width = plain.width + 2 * pad;
  const height = plain.height + 2 * pad;
  const shadow = await sharp(await darken(plain.png))
    .extend({ top: pad, bottom: pad, left: pad, right: pad, background: CLEAR })
    .blur(Math.max(1, lettering.sizePx * 0.09))
    .png(FAST)
    .toBuffer();
  const png = await sharp(shadow)
    // Twice: one blurred layer alone is too faint under thin strokes.
    .composite([{ input: shadow }, { input: plain.png, top: pad, left: pad }])
    .png(FAST)
    .toBuffer();
  return { png, width, height };
}

const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };
const FAST = { compressionLevel: 1 };

async function setText(lettering: Lettering): Promise<Picture> {
  const { color, sizePx, widthMax, heightMax } = lettering;
  const text = `<span foreground="${color}">${escapeMarkup(lettering.text)}</span>`;
  // Points at 72 dpi are pixels.
  const options = { text, fontfile: FONT_FILE, font: `DejaVu Sans Bold ${Math.round(sizePx)}` };
  const drawn = await sharp({
    text: { ...options, width: widthMax, align: 'centre', rgba: true, dpi: 72, wrap: 'word-char' },
  })
    .png(FAST)
    .toBuffer({ resolveWithObject: true });
  if (drawn.info.height <= heightMax && drawn.info.width <= widthMax) {
    return { png: drawn.data, width: drawn.info.width, height: drawn.info.height };
  }
  const fitted = await sharp(drawn.data)
    .resize({ width: widthMax, height: heightMax, fit: 'inside', withoutEnlargement: true })
    .png(FAST)
    .toBuffer({ resolveWithObject: true });
  return { png: fitted.data, width: fitted.info.width, height: fitted.info.height };
}

async function darken(png: Buffer): Promise<Buffer> {
  return sharp(png).linear([0, 0, 0, 0.8], [0, 0, 0, 0]).png(FAST).toBuffer();
}

function escapeMarkup(text: string): string {
  // Pango refuses control characters; a caller's prompt may hold any.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to be found
  const clean = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/\p{Surrogate}/gu, '\ufffd');
  return clean.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
