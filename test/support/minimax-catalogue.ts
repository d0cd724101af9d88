// A catalogue with a channel that speaks MiniMax's protocol. Its provider is the studio. The channel
// also does super-resolution, after the enhancer of the catalogue file.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { parseCatalogue, pollIntervalMs } from './catalogue';
import { withVideos } from './videos-catalogue';

const tokens = { '480p': 9_600, '720p': 21_600 };

export const aMinimaxModel = (over: object = {}) => ({
  channels: [
    {
      channel: 'minimax',
      upstreamModel: 'MiniMax-H3',
      meter: { perSecond: tokens, inputSeconds: true },
    },
  ],
  resolutions: ['720p'],
  ratios: ['16:9', '9:16', 'adaptive'],
  pixels: 'minimax',
  durations: { min: 4, max: 15 },
  inputs: {
    types: ['text_to_video', 'first_last_frame', 'reference'],
    referenceImagesMax: 6,
    videosMax: 3,
    audiosMax: 3,
  },
  audio: false,
  lastFrame: false,
  promptCharsMax: 7_000,
  defaults: { resolution: '720p', ratio: '16:9', durationSeconds: 5 },
  prices: [{ perMillionTokens: '46' }],
  ...over,
});

export const aMinimaxChannel = (baseUrl: string, over: object = {}) => ({
  protocol: 'minimax',
  baseUrl,
  apiKeyEnv: 'STUDIO_API_KEY',
  requestTimeoutMs: 10_000,
  pollIntervalMs,
  listLagMs: 0,
  ...over,
});

const pixelTables = {
  minimax: {
    '480p': { '16:9': '854x480', '9:16': '480x854' },
    '720p': { '16:9': '1366x768', '9:16': '768x1366' },
  },
};

/** The catalogue file with this channel, these models and these enhancers. */
export function withMinimax(
  channel: object,
  models: object,
  enhancers?: readonly string[],
): string {
  const file = JSON.parse(withVideos({ minimax: channel }, models)) as Record<string, object>;
  return JSON.stringify({
    ...file,
    pixelTables: { ...file.pixelTables, ...pixelTables },
    superResolution: {
      ...file.superResolution,
      ...(enhancers ? { channels: enhancers } : {}),
    },
  });
}

export function minimaxCatalogue(
  studioUrl: string,
  upstreamUrl = studioUrl,
  enhancers = ['studio-enhancer', 'minimax'],
): Catalogue {
  const max = aMinimaxModel({
    channels: [
      { channel: 'minimax', upstreamModel: 'MiniMax-H3-Max', meter: { perSecond: tokens } },
    ],
    resolutions: ['480p', '720p'],
    durations: { min: 5, max: 15 },
    inputs: { types: ['text_to_video', 'first_last_frame'] },
  });
  const text = withMinimax(
    aMinimaxChannel(upstreamUrl),
    { 'minimax-h3': aMinimaxModel(), 'minimax-h3-max': max },
    enhancers,
  );
  return parseCatalogue(text, { STUDIO_URL: studioUrl });
}
