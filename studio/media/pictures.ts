/*
 * Checks images of callers and scales them with sharp into plain PNG files. ffmpeg never opens an
 * original image. The SVG drawings of the studio become PNG
 * or JPEG files here, too.
 */

import sharp from 'sharp';
import type { Size } from '../jobs/models';
import { MediaFault } from './media-store';

// Each picture is used exactly once, so a cache would only waste memory.
sharp.cache(false);

const FORMATS = ['jpeg', 'png', 'webp', 'gif', 'tiff', 'heif'];
const SIDE = { min: 300, max: 6000 };
const ASPECT = { min: 0.4, max: 2.5 };
const FAST = { compressionLevel: 1 };
const OPEN = { limitInputPixels: SIDE.max * SIDE.max, failOn: 'error' } as const;

/**
 * Returns the size of the picture when it is shown upright. Throws a MediaFault if the format, the
 * size or the ratio of the picture is not allowed.
 */
export async function inspectPicture(path: string, label: string): Promise<Size> {
  // Only the header is read here, also of a picture that is too large.
  const about = await sharp(path, { ...OPEN, limitInputPixels: false })
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

/** Scales the picture to `size`. Parts that do not fit are cropped equally on both sides. */
export async function fitPicture(
  path: string,
  label: string,
  size: Size,
  target: string,
): Promise<void> {
  try {
    await sharp(path, OPEN)
      .autoOrient()
      .resize({ ...size, fit: 'cover' })
      .flatten({ background: '#101418' })
      .toColourspace('srgb')
      .png(FAST)
      .toFile(target);
  } catch (error) {
    if (/ENOSPC|no space/i.test(String(error))) throw error;
    throw new MediaFault(`${label} could not be decoded.`);
  }
}

export async function drawPicture(drawing: string, target: string): Promise<void> {
  await sharp(Buffer.from(drawing)).png(FAST).toFile(target);
}

export async function drawJpeg(drawing: string, target: string): Promise<void> {
  await sharp(Buffer.from(drawing)).flatten().jpeg({ quality: 86 }).toFile(target);
}
