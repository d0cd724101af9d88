// GET /v1/models: the models that a key may use, with their abilities and prices. So a client can
// offer only valid options.

import type { Caller } from '../accounts/accounts.rows';
import { formatMicros } from '../accounts/amount.rules';
import type { Catalogue, Model, SuperResolutionOffer } from '../catalogue/catalogue.rules';
import { sizeOf } from '../catalogue/catalogue.rules';
import { toolVersions } from '../contract/vocabulary';
import type { KeyedCall, KeyedRouter } from '../gateway/context';
import type { KeyedDeps } from '../gateway/deps';
import { microsPerMinute } from './enhancement-price.rules';
import { offeredTargets } from './enhancers.rules';
import { ownPrices } from './own-prices.http';
import { withOwnEnhancers } from './permissions.rules';
import { plainVideo } from './plain-video.rules';
import { targetsOf } from './resolution.rules';
import { usableModels } from './usable-models.rules';

export type ShowModels = (ctx: KeyedCall) => void;

export function createShowModels({ catalogue }: KeyedDeps): ShowModels {
  return (ctx) => {
    const { caller } = ctx.state;
    const offer = offerFor(ownPrices(catalogue(), caller), caller);
    ctx.body = { data: offer.models.map((model) => shown(model, offer)) };
  };
}

export function modelRoutes(router: KeyedRouter, show: ShowModels): void {
  router.get('/v1/models', (ctx) => show(ctx));
}

interface Offer extends Pick<Catalogue, 'currency' | 'superResolution'> {
  readonly models: readonly Model[];
}

/**
 * Returns the models, modes and super-resolution that this key may use. All others are left out,
 * because a request for them gets a 403.
 */
function offerFor(catalogue: Catalogue, caller: Caller): Offer {
  const usable = usableModels(catalogue, caller, Date.now());
  const names = new Set(usable.map(({ id }) => id));
  const models = usable.map((model) => ({
    ...model,
    modes: Object.fromEntries(Object.entries(model.modes).filter(([, entry]) => names.has(entry))),
  }));
  const { currency } = catalogue;
  const superResolution = withOwnEnhancers(catalogue.superResolution, caller);
  return { models, currency, superResolution };
}

function shown(model: Model, { currency, ...offer }: Offer) {
  const { durations, inputs, defaults } = model;
  const superResolution = model.enhanceable ? offer.superResolution : null;
  return {
    id: model.id,
    ...(model.retires === null ? {} : { retires: model.retires }),
    ...(model.replacedBy === null ? {} : { replaced_by: model.replacedBy }),
    resolutions: model.resolutions,
    ratios: model.ratios,
    sizes: sizesOf(model),
    durations,
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
      draft_last_frame: model.lastFrame && model.draft !== null && model.draft.lastFrame !== false,
      tools: model.tools,
      tools_text_only: model.toolsTextOnly,
      modes: Object.keys(model.modes),
      super_resolution: superResolution !== null,
      prompt_chars_max: model.promptCharsMax,
    },
    defaults: {
      resolution: defaults.resolution,
      ratio: defaults.ratio,
      duration: defaults.durationSeconds,
    },
    prices: model.prices.map((price) => ({
      ...(price.resolutions ? { resolutions: price.resolutions } : {}),
      ...(price.inputVideo === undefined ? {} : { input_video: price.inputVideo }),
      ...(price.audio === undefined ? {} : { audio: price.audio }),
      currency,
      per_million_tokens: formatMicros(price.microsPerMillionTokens),
    })),
    plain_video: shownPlainVideo({ currency }, model),
    super_resolution: superResolution && {
      targets: Object.fromEntries(
        model.resolutions.map((base) => [
          base,
          offeredTargets(targetsOf(base), base, superResolution),
        ]),
      ),
      prices: enhancementPrices(superResolution, currency),
    },
  };
}

export function shownPlainVideo(offer: Pick<Catalogue, 'currency'>, model: Model) {
  const { seconds, priceMicros, microsPerSecond, ...frame } = plainVideo(offer, model);
  return {
    ...frame,
    duration: seconds,
    currency: offer.currency,
    price: formatMicros(priceMicros),
    price_per_second: formatMicros(microsPerSecond),
  };
}

/**
 * Returns sizes as `WxH`, by tier and ratio. The ratio `adaptive` is left out, because its size is
 * known only after the generation.
 */
function sizesOf(model: Model): Record<string, Record<string, string>> {
  const tiers = model.resolutions.map((resolution) => {
    const sizes = model.ratios.flatMap((ratio) => {
      const size = sizeOf(model, resolution, ratio);
      return size ? [[ratio, `${size.width}x${size.height}`]] : [];
    });
    return [resolution, Object.fromEntries(sizes)];
  });
  return Object.fromEntries(tiers);
}

function enhancementPrices(offer: SuperResolutionOffer, currency: string) {
  return Object.entries(offer.coefficients).flatMap(([resolution, coefficients]) =>
    ([30, 60, 120] as const).flatMap((fpsMax, band) =>
      toolVersions.map((toolVersion) => ({
        resolution,
        fps_max: fpsMax,
        tool_version: toolVersion,
        currency,
        per_minute: formatMicros(microsPerMinute(offer, coefficients[band] ?? 0, toolVersion)),
      })),
    ),
  );
}
