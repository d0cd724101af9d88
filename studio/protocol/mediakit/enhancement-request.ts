/*
 * Parses the body of an enhance-video request. The body names a resolution or a short side, never
 * both. The idempotency key is in the body too (`client_token`).
 */

import type { EnhancementRequest } from '../../jobs/job';
import { TARGET_SHORT_SIDES } from '../../jobs/models';
import { invalid, missing } from '../../protocol-error';
import type { Body } from '../fields';
import {
  isHttpUrl,
  optionalInteger,
  optionalString,
  optionalWord,
  requiredString,
} from '../fields';

const SCENES = ['common', 'ugc', 'short_series', 'aigc', 'old_film'] as const;

export function parseEnhancementRequest(body: Body): EnhancementRequest {
  const videoUrl = requiredString(body, 'video_url', 2048);
  if (!isHttpUrl(videoUrl)) throw invalid('video_url', 'it must be an http(s) address');
  const resolution = optionalWord(body, 'resolution', Object.keys(TARGET_SHORT_SIDES));
  const resolutionLimit = optionalInteger(body, 'resolution_limit', 64, 2160);
  if (resolution !== undefined && resolutionLimit !== undefined) {
    throw invalid('resolution_limit', 'it cannot be sent together with resolution');
  }
  if (resolution === undefined && resolutionLimit === undefined) throw missing('resolution');
  // These two fields are only checked here. A scene does not change the video, and `parseCall` has
  // already used the token.
  optionalWord(body, 'scene', SCENES);
  optionalString(body, 'client_token', 64);
  return {
    videoUrl,
    resolution,
    resolutionLimit,
    toolVersion: optionalWord(body, 'tool_version', ['standard', 'professional']) ?? 'standard',
    fps: optionalInteger(body, 'fps', 1, 120),
  };
}
