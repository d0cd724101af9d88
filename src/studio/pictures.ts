/*
 * Images of strangers, checked and fitted by sharp; what leaves this room is a plain PNG of our own
 * making, which is all that ffmpeg ever sees of them.
 */

import sharp from 'sharp';
import { MediaFault } from './media';
import type { Size } from './models';

// A studio renders a picture once; libvips' cache would only hold memory.
sharp.cache(false);

const FORMATS = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif'];
const SIDE = { min: 300, max: 6000 };
const ASPECT = { min: 0.4, max: 2.5 };
const FAST = { compressionLevel: 1 };
const OPEN = { limitInputPixels: SIDE.max * SIDE.max, failOn: 'error' } as const;

/** The picture's upright size, if it is a picture that may be used. */
export async function inspectPicture(path: string, label: string): Promise<Size> {
  const about = await sharp(path, OPEN)
    .metadata()
    .catch(() => undefined);
  if (!about?.width || !about.height || !FORMATS.includes(about.format ?? '')) {
    throw new MediaFault(`${label} is not a picture in jpeg, png, webp, gif, tiff or heif.`);
  }
  const isTurned = (about.orientation ?? 1) >= 5;
  const size = isTurned
    ? { width: about.height, height: about.width }
    : { width: about.width, height: about.height };
  const { width, height } = size;
  const sides = [width, height];
  if (sides.some((side) => side < SIDE.min || side > SIDE.max)) {
    const range = `${SIDE.min} to ${SIDE.max} pixels`;
    throw new MediaFault(`${label} is ${width}×${height}; each side must have ${range}.`);
  }
  if (width / height < ASPECT.min || width / height > ASPECT.max) {
    const range = `${ASPECT.min} to ${ASPECT.max}`;
    throw new MediaFault(`${label} is ${width}×${height}; width / height must be ${range}.`);
  }
  return size;
}

/** Fills the frame; what does not fit is cut away evenly. */
export async function fitPicture(
  path: string,
  label: string,
  size: Size,
  target: string,
  fit: 'cover' | 'fill' = 'cover',
): Promise<void> {
  await decode(label, () =>
    sharp(path, OPEN)
      .autoOrient()
      .resize({ ...size, fit, kernel: 'lanczos3' })
      .flatten({ background: '#101418' })
      .toColourspace('srgb')
      .png(FAST)
      .toFile(target),
  );
}

/**
 * A photograph on paper: a white border, round corners, a shadow under it. Returns its whole size.
 */
export async function framePicture(
  path: string,
  label: string,
  inside: Size,
  target: string,
): Promise<Size> {
  const photo = await decode(label, () =>
    sharp(path, OPEN)
      .autoOrient()
      .resize({ ...inside, fit: 'cover' })
      .flatten({ background: '#101418' })
      .toColourspace('srgb')
      .png(FAST)
      .toBuffer(),
  );
  return paper(inside, target, photo);
}

/** The same paper with nothing on it, for a clip to play on. */
export async function paper(inside: Size, target: string, photo?: Buffer): Promise<Size> {
  const border = paperBorder(inside);
  const shade = border * 2;
  const width = inside.width + 2 * (border + shade);
  const height = inside.height + 2 * (border + shade);
  const sheet = (fill: string, dy: number) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
        <rect x="${shade}" y="${shade + dy}"
          width="${width - 2 * shade}" height="${height - 2 * shade}"
          rx="${border}" fill="${fill}"/></svg>`,
    );
  const shadow = await sharp(sheet('rgba(0,0,0,0.5)', border / 2))
    .blur(Math.max(1, border * 0.8))
    .png(FAST)
    .toBuffer();
  const offset = border + shade;
  await sharp(shadow)
    .composite([
      { input: sheet('#ffffff', 0) },
      ...(photo ? [{ input: photo, left: offset, top: offset }] : []),
    ])
    .png(FAST)
    .toFile(target);
  return { width, height };
}

function paperBorder(inside: Size): number {
  return Math.max(4, Math.round(Math.min(inside.width, inside.height) * 0.025));
}

export async function drawPicture(drawing: string, target: string): Promise<void> {
  await sharp(Buffer.from(drawing)).png(FAST).toFile(target);
}

async function decode<Result>(label: string, attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await attempt();
  } catch (error) {
    if (String(error).includes('ENOSPC') || /no space/i.test(String(error))) throw error;
    throw new MediaFault(`${label} could not be decoded.`);
  }
}
