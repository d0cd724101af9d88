/*
 * The body of an enhance-video request → the order. Enhancement has its own vocabulary: a target
 * tier or a short side, never both, and an idempotency key in the body (`client_token`).
 */

import type { Body } from './fields';
import {
  given,
  isHttpUrl,
  optionalHttpUrl,
  optionalInteger,
  optionalString,
  optionalWord,
  requiredString,
} from './fields';
import type { EnhancementOrder } from './jobs';
import { invalid, missing } from './protocol-error';

/** Short sides of the target tiers, in pixels. */
export const TARGET_SHORT_SIDES: Record<string, number> = {
  '240p': 240,
  '360p': 360,
  '480p': 480,
  '540p': 540,
  '720p': 720,
  '1080p': 1080,
  '2k': 1440,
  '4k': 2160,
};

const SCENES = ['common', 'ugc', 'short_series', 'aigc', 'old_film'] as const;

export function parseEnhancementOrder(body: Body): {
  order: EnhancementOrder;
  callbackUrl: string | undefined;
} {
  const videoUrl = requiredString(body, 'video_url', 2048);
  if (!isHttpUrl(videoUrl)) throw invalid('video_url', 'it must be an http(s) address');
  const resolution = optionalWord(body, 'resolution', Object.keys(TARGET_SHORT_SIDES));
  const resolutionLimit = optionalInteger(body, 'resolution_limit', 64, 2160);
  if (resolution !== undefined && resolutionLimit !== undefined) {
    throw invalid('resolution_limit', 'it cannot be sent together with resolution');
  }
  if (resolution === undefined && resolutionLimit === undefined) throw missing('resolution');
  const order: EnhancementOrder = {
    videoUrl,
    resolution,
    resolutionLimit,
    scene: optionalWord(body, 'scene', SCENES) ?? 'common',
    toolVersion: optionalWord(body, 'tool_version', ['standard', 'professional']) ?? 'standard',
    fps: parseFps(body),
    bitrateLevel: optionalWord(body, 'bitrate_level', ['low', 'medium', 'high']) ?? 'medium',
    callbackArgs: optionalString(body, 'callback_args', 1024),
  };
  const callbackUrl = optionalHttpUrl(body, 'callback_url');
  // Who took the call has read it already; here it is only checked.
  optionalString(body, 'client_token', 64);
  return { order, callbackUrl };
}

function parseFps(body: Body): number | undefined {
  const fps = given(body, 'fps');
  if (fps === undefined) return undefined;
  if (typeof fps === 'number' && fps > 0 && fps <= 120) return fps;
  throw invalid('fps', 'it must be a number above 0 and up to 120');
}
