// A catalogue with a channel that speaks DashScope. Its provider is the studio.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseCatalogue, pollIntervalMs } from './catalogue';
import { withVideos } from './videos-catalogue';

const perSecond = { '480p': 9_600, '720p': 21_600, '1080p': 48_600 };

export const aDashscopeChannel = (studioUrl: string, over: object = {}) => ({
  protocol: 'dashscope',
  baseUrl: `${studioUrl}/dashscope/api/v1`,
  apiKeyEnv: 'STUDIO_API_KEY',
  requestTimeoutMs: 10_000,
  pollIntervalMs,
  listLagMs: 500,
  ...over,
});

/** A model that takes everything that Wan 3.0 takes. */
export const aWanModel = (channel: string, upstreamModel = 'wan3.0-video') => ({
  channels: [{ channel, upstreamModel, meter: { perSecond } }],
  resolutions: ['480p', '720p', '1080p'],
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', 'adaptive'],
  pixels: 'family-2',
  durations: { min: 2, max: 30, auto: true },
  inputs: {
    types: ['text_to_video', 'first_last_frame', 'reference'],
    referenceImagesMax: 9,
    videosMax: 3,
    audiosMax: 3,
  },
  audio: true,
  lastFrame: false,
  defaults: { resolution: '720p', ratio: '16:9', durationSeconds: 5 },
  prices: [{ perMillionTokens: '46' }],
});

export function dashscopeCatalogue(studioUrl: string): Catalogue {
  const channels = { dashscope: aDashscopeChannel(studioUrl) };
  const i2v = {
    ...aWanModel('dashscope', 'wan2.7-i2v'),
    ratios: ['adaptive'],
    resolutions: ['720p', '1080p'],
    durations: { min: 2, max: 15 },
    inputs: { types: ['first_last_frame', 'reference'], referenceImagesMax: 1 },
    audio: false,
    defaults: { resolution: '720p', ratio: 'adaptive', durationSeconds: 5 },
  };
  const models = { wan: aWanModel('dashscope'), 'wan-i2v': i2v };
  return parseCatalogue(withVideos(channels, models), { STUDIO_URL: studioUrl });
}
