// A catalogue with a channel that speaks Kling. Its provider is the studio.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseCatalogue, pollIntervalMs } from './catalogue';
import { withVideos } from './videos-catalogue';

export const aKlingChannel = (studioUrl: string, over: object = {}) => ({
  protocol: 'kling',
  baseUrl: `${studioUrl}/kling/v1/videos`,
  apiKeyEnv: 'KLING_KEY',
  requestTimeoutMs: 10_000,
  pollIntervalMs,
  listLagMs: 500,
  ...over,
});

/** A model that takes everything that the protocol has. */
export const aKlingModel = (channel: string) => ({
  channels: [
    {
      channel,
      upstreamModel: 'kling-v3',
      meter: { perSecond: { '720p': 21_600, '1080p': 48_600 } },
    },
  ],
  resolutions: ['720p', '1080p'],
  ratios: ['16:9', '9:16', '1:1', 'adaptive'],
  pixels: 'family-2',
  durations: { min: 3, max: 15 },
  inputs: { types: ['text_to_video', 'first_last_frame', 'reference'], referenceImagesMax: 4 },
  audio: true,
  lastFrame: false,
  promptCharsMax: 2_500,
  defaults: { resolution: '720p', ratio: '16:9', durationSeconds: 5 },
  prices: [{ perMillionTokens: '46' }],
});

export function klingCatalogue(studioUrl: string): Catalogue {
  const channels = { kling: aKlingChannel(studioUrl) };
  const text = withVideos(channels, { kling: aKlingModel('kling') });
  return parseCatalogue(text, { STUDIO_URL: studioUrl });
}
