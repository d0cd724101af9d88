// The price of a plain video: five seconds at 720p without references and extras. So models with
// different meters can be compared.

import { type Catalogue, type Model, makesLength } from '../catalogue/catalogue.rules';
import type { Ratio, Resolution } from '../contract/vocabulary';
import { holdFor } from './pricing.rules';

export interface PlainVideo {
  readonly resolution: Resolution;
  readonly ratio: Ratio;
  readonly seconds: number;
  readonly priceMicros: number;
  readonly microsPerSecond: number;
}

/** If the model does not make five seconds of 720p at 16:9, its defaults are used. */
export function plainVideo({ currency }: Pick<Catalogue, 'currency'>, model: Model): PlainVideo {
  const { defaults, durations } = model;
  const resolution = model.resolutions.includes('720p') ? '720p' : defaults.resolution;
  const ratio = model.ratios.includes('16:9') ? '16:9' : defaults.ratio;
  const usual = defaults.durationSeconds === -1 ? durations.max : defaults.durationSeconds;
  const seconds = makesLength(durations, 5) ? 5 : usual;
  const { hold } = holdFor({
    ...{ model, currency, resolution, ratio, durationSeconds: seconds },
    ...{ hasVideo: false, referenceMs: 0, draft: false, audio: model.audio ? true : null },
    ...{ enhancement: null, superResolution: null },
  });
  const { amountMicros: priceMicros } = hold;
  const microsPerSecond = Math.ceil(priceMicros / seconds);
  return { resolution, ratio, seconds, priceMicros, microsPerSecond };
}
