// Computes the planned size of the final video, and the ratio of a size. Super-resolution scales
// the short side of the base video to the target and keeps the ratio of the sides. So 480p 16:9
// (864x496) becomes 1882x1080 at 1080p.

import type { Size } from '../catalogue/catalogue.rules';
import { contractRatios, type FixedRatio, type Ratio } from '../contract/vocabulary';
import type { Plan } from './plan-types.rules';
import { shortSides } from './resolution.rules';

/** Null if the generator decides the size of the base video (`adaptive`). */
export function outputSize({
  width,
  height,
  enhancement,
}: Pick<Plan, 'width' | 'height' | 'enhancement'>): Size | null {
  if (width === null || height === null) return null;
  if (!enhancement) return { width, height };
  const { resolution, resolutionLimit } = enhancement;
  const shortSide = resolution === null ? resolutionLimit : shortSides[resolution];
  if (shortSide === null) return { width, height };
  const factor = shortSide / Math.min(width, height);
  return { width: even(width * factor), height: even(height * factor) };
}

/** The ratio of the API document that is nearest to this size. */
export function nearestRatio({ width, height }: Size): FixedRatio {
  const fixed = contractRatios.filter((ratio) => ratio !== 'adaptive');
  const distance = (ratio: FixedRatio) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    const quotient = (width * down) / (height * across);
    return Math.max(quotient, 1 / quotient);
  };
  return fixed.reduce<FixedRatio>(
    (best, one) => (distance(one) < distance(best) ? one : best),
    '16:9',
  );
}

/** The ratio of a video of this size. A ratio that only some models have stays as it was asked. */
export function shownRatio(planned: Ratio, size: Size): Ratio {
  const words: readonly string[] = contractRatios;
  return words.includes(planned) ? nearestRatio(size) : planned;
}

/** Rounds to an even number, because video encoders accept only even sides. */
function even(side: number): number {
  return Math.round(side / 2) * 2;
}
