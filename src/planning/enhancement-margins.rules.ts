// Super-resolution that is charged less than it costs, before any is made.

import type { SuperResolutionOffer } from '../catalogue/catalogue.rules';
import { channelName, firstOfEach } from '../catalogue/catalogue.rules';
import type { EnhancedResolution, ToolVersion } from '../contract/vocabulary';
import { contractSeconds, enhancedResolutions } from '../contract/vocabulary';
import { jobCostMicros } from './cost.rules';
import { enhancementCost, enhancementMicros, enhancementPrice } from './enhancement-price.rules';

export interface EnhancementLoss {
  readonly channel: string;
  readonly resolution: EnhancedResolution;
  readonly toolVersion: ToolVersion;
  readonly seconds: number;
  readonly chargedMicros: number;
  readonly costMicros: number;
}

/** The first loss that is found for each channel. The keys of a channel count as one. */
export function enhancementLossesOf(offer: SuperResolutionOffer): readonly EnhancementLoss[] {
  const channels = firstOfEach(Object.keys(offer.costs), channelName);
  return channels.flatMap((channel) => losses(offer, channel).slice(0, 1));
}

function losses(offer: SuperResolutionOffer, channel: string): readonly EnhancementLoss[] {
  const cost = offer.costs[channel];
  const { targets = enhancedResolutions, toolVersions = ['standard', 'professional'] } =
    offer.limits[channel] ?? {};
  return targets.flatMap((resolution) =>
    toolVersions.flatMap((toolVersion) =>
      [contractSeconds.min, contractSeconds.max].flatMap((seconds) => {
        const asked = { resolution, resolutionLimit: null, toolVersion, fps: null };
        const perMinute = enhancementPrice(offer, asked);
        const chargedMicros = enhancementMicros(seconds * 1_000, perMinute);
        const facts = { completionTokens: null, durationSeconds: seconds };
        const costMicros = cost && jobCostMicros(enhancementCost(offer, asked, cost), facts);
        const isLoss = costMicros != null && costMicros > chargedMicros;
        return isLoss
          ? [{ channel, resolution, toolVersion, seconds, chargedMicros, costMicros }]
          : [];
      }),
    ),
  );
}
