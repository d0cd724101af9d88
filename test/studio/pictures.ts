// Measures the colours of a picture or of a part of it.

import sharp from 'sharp';
import { distance } from './mp4';

export interface Region {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const pixelsOf = (picture: Buffer, region?: Region) => {
  const whole = sharp(picture).removeAlpha().toColourspace('srgb');
  return (region ? whole.extract(region) : whole).raw().toBuffer();
};

export async function sizeOf(picture: Buffer): Promise<{ width: number; height: number }> {
  const { width, height } = await sharp(picture).metadata();
  return { width, height };
}

export async function shareOf(
  picture: Buffer,
  isIt: (r: number, g: number, b: number) => boolean,
  region?: Region,
): Promise<number> {
  const pixels = await pixelsOf(picture, region);
  let count = 0;
  for (let at = 0; at < pixels.length; at += 3) {
    if (isIt(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!)) count += 1;
  }
  return count / (pixels.length / 3);
}

export const whiteIn = (picture: Buffer, region: Region) =>
  shareOf(picture, (r, g, b) => Math.min(r, g, b) > 205, region);

export async function changeIn(one: Buffer, other: Buffer, region: Region): Promise<number> {
  return distance(await pixelsOf(one, region), await pixelsOf(other, region));
}
