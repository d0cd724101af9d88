// The models a key may use, with what each can do and costs, so that a page or a client can offer only what works.

import type { Model } from '../domain/catalogue';
import { formatMicros } from '../domain/money';
import type { ApiDeps } from './app';
import type { ApiRouter } from './context';

export function modelRoutes(router: ApiRouter, { catalogue }: ApiDeps): void {
  router.get('/v1/models', (ctx) => {
    const { models, channels } = ctx.state.caller;
    const { models: all, superResolution, currency } = catalogue();
    const usable = Object.values(all).filter(
      (model) =>
        (models?.includes(model.id) ?? true) &&
        (!channels || model.channels.some(({ channel }) => channels.includes(channel))),
    );
    ctx.body = {
      data: usable.map((model) => shown(model, currency, superResolution !== null)),
    };
  });
}

function shown(model: Model, currency: string, superResolution: boolean) {
  const { durations, inputs } = model;
  return {
    id: model.id,
    resolutions: model.resolutions,
    ratios: model.ratios,
    durations: { min: durations.min, max: durations.max, auto: durations.auto },
    inputs: {
      types: inputs.types,
      reference_images_max: inputs.referenceImagesMax,
      videos_max: inputs.videosMax,
      audios_max: inputs.audiosMax,
      audio_alone: inputs.audioAlone,
      middle_frames: inputs.middleFrames,
    },
    features: {
      audio: model.audio,
      draft: model.draft !== null,
      last_frame: model.lastFrame,
      tools: model.tools,
      modes: Object.keys(model.modes),
      super_resolution: superResolution,
      prompt_chars_max: model.promptCharsMax,
    },
    defaults: {
      resolution: model.defaults.resolution,
      ratio: model.defaults.ratio,
      duration: model.defaults.durationSeconds,
    },
    prices: model.prices.map((price) => ({
      ...(price.resolutions ? { resolutions: price.resolutions } : {}),
      ...(price.inputVideo === undefined ? {} : { input_video: price.inputVideo }),
      ...(price.audio === undefined ? {} : { audio: price.audio }),
      currency,
      per_million_tokens: formatMicros(price.microsPerMillionTokens),
    })),
  };
}
