/*
 * Counts the tokens of a generation as the real provider bills them. The bill has one frame more
 * than the provider's published estimate. If there is input video, the count has a minimum. A draft
 * counts fewer tokens. All results are rounded down.
 */

import { FPS } from '../../jobs/models';

interface Consumption {
  width: number;
  height: number;
  outputSeconds: number;
  inputVideoSeconds: number;
  hasInputVideo: boolean;
  isDraft: boolean;
  hasAudio: boolean;
}

export function countTokens(consumption: Consumption): number {
  const { width, height, outputSeconds, inputVideoSeconds } = consumption;
  const pixels = width * height;
  const frames = Math.round(FPS * (inputVideoSeconds + outputSeconds)) + 1;
  const byFrames = Math.floor((frames * pixels) / 1024);
  const floorSeconds = consumption.hasInputVideo ? Math.ceil((outputSeconds * 5) / 3) : 0;
  const tokens = Math.max(byFrames, Math.floor((floorSeconds * pixels * FPS) / 1024));
  if (!consumption.isDraft) return tokens;
  // Calculates with integers, because 0.7 and 0.6 are not exact in binary.
  return Math.floor((tokens * (consumption.hasAudio ? 6 : 7)) / 10);
}
