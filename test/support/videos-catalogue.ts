// A catalogue with channels that speak OpenAI videos, one for each profile. Their provider is the
// studio. Each channel has a model with the name of its profile.

import { parseDocument } from 'yaml';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { catalogueText, parseCatalogue, pollIntervalMs } from './catalogue';

export const profiles = ['openai', 'vllm-omni', 'sglang', 'gateway'] as const;

export const aVideosModel = (channel: string) => ({
  channels: [
    {
      channel,
      upstreamModel: 'studio-2.0',
      meter: { perSecond: { '480p': 9_600, '720p': 21_600 } },
    },
  ],
  resolutions: ['720p'],
  ratios: ['16:9', '9:16'],
  pixels: 'family-2',
  durations: { values: [4, 8, 12] },
  inputs: { types: ['text_to_video', 'reference'], referenceImagesMax: 1 },
  audio: false,
  lastFrame: false,
  defaults: { resolution: '720p', ratio: '16:9', durationSeconds: 4 },
  prices: [{ perMillionTokens: '46' }],
});

export const aVideosChannel = (baseUrl: string, over: object = {}) => ({
  protocol: 'openai-videos',
  baseUrl,
  apiKeyEnv: 'STUDIO_API_KEY',
  requestTimeoutMs: 10_000,
  pollIntervalMs,
  hasList: false,
  ...over,
});

/** The catalogue file with more channels and models. */
export function withVideos(channels: object, models: object): string {
  const file = parseDocument(catalogueText, { merge: true }).toJS() as Record<string, object>;
  return JSON.stringify({
    ...file,
    channels: { ...file.channels, ...channels },
    models: { ...file.models, ...models },
  });
}

export function videosCatalogue(studioUrl: string): Catalogue {
  const channels = profiles.map((profile) => [
    profile,
    aVideosChannel(`${studioUrl}/v1`, { profile }),
  ]);
  const models = profiles.map((profile) => [profile, aVideosModel(profile)]);
  const text = withVideos(Object.fromEntries(channels), Object.fromEntries(models));
  return parseCatalogue(text, { STUDIO_URL: studioUrl });
}
