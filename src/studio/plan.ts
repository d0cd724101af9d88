/*
 * The two things an order leaves to the studio: its size when the ratio is adaptive, and its length
 * when it says -1. Both follow from the order alone, so the same order always gives the same video.
 */

import type { GenerationOrder } from './jobs';
import type { Ratio, Size } from './models';
import { adaptiveSize, findModel, tableSize } from './models';

export function plannedSize(order: GenerationOrder, firstImage?: Size): Size {
  const model = findModel(order.model)!;
  if (order.ratio !== 'adaptive') {
    return tableSize(model, order.resolution, order.ratio as Ratio);
  }
  if (firstImage) return adaptiveSize(model, order.resolution, firstImage);
  return tableSize(model, order.resolution, '16:9');
}

/** A longer prompt has more to tell: four to eight seconds, inside what every model can make. */
export function pickSeconds(order: Pick<GenerationOrder, 'duration' | 'prompt'>): number {
  if (order.duration !== undefined && order.duration !== -1) return order.duration;
  const words = order.prompt.split(/\s+/).filter(Boolean).length;
  return Math.min(8, 4 + Math.floor(words / 8));
}
