// The price of a minute of super-resolution, and what it costs at each channel.

import { ceilDivide, hundredths } from '../accounts/amount.rules';
import { assert } from '../assert';
import type { EnhancementCost, SuperResolutionOffer } from '../catalogue/catalogue.rules';
import type { EnhancedResolution } from '../contract/vocabulary';
import { enhancedResolutions } from '../contract/vocabulary';
import type { EnhancementPlan, PlannedCost } from './plan-types.rules';
import { shortSides } from './resolution.rules';

type Asked = Pick<EnhancementPlan, 'resolution' | 'resolutionLimit' | 'toolVersion' | 'fps'>;
type Prices = Pick<SuperResolutionOffer, 'microsPerMinute' | 'factors' | 'coefficients'>;

/** Frames per second of every generated video, as the generator defines them. */
export const framesPerSecond = 24;

/** The price of a minute of output: base price × coefficient × version factor. */
export function enhancementPrice(offer: Prices, asked: Asked): number {
  const [upTo30, upTo60, upTo120] = offer.coefficients[targetOf(asked)];
  const fps = asked.fps ?? framesPerSecond;
  const coefficient = fps <= 30 ? upTo30 : fps <= 60 ? upTo60 : upTo120;
  return microsPerMinute(offer, coefficient, asked.toolVersion);
}

/**
 * The standard price is rounded before the factor is applied, so that the `professional` price is
 * an exact multiple of the standard price.
 */
export function microsPerMinute(
  offer: Pick<Prices, 'microsPerMinute' | 'factors'>,
  coefficient: number,
  toolVersion: keyof SuperResolutionOffer['factors'],
): number {
  const standard = BigInt(offer.microsPerMinute) * BigInt(hundredths(coefficient));
  return ceilDivide(standard, 100n) * offer.factors[toolVersion];
}

export function enhancementMicros(milliseconds: number, perMinute: number): number {
  return ceilDivide(BigInt(milliseconds) * BigInt(perMinute), 60_000n);
}

/** What these channels bill for this super-resolution; no entry if the catalogue does not say it. */
export function enhancementCosts(
  offer: SuperResolutionOffer,
  asked: Asked,
  channels: readonly string[],
): Readonly<Record<string, PlannedCost>> {
  const known = channels.flatMap((id) => {
    const cost = offer.costs[id];
    return cost ? [[id, enhancementCost(offer, asked, cost)] as const] : [];
  });
  return Object.fromEntries(known);
}

export function enhancementCost(offer: Prices, asked: Asked, cost: EnhancementCost): PlannedCost {
  if ('microsPerMinute' in cost) {
    return { microsPerMinute: enhancementPrice({ ...offer, ...cost }, asked) };
  }
  const tier = targetOf(asked);
  const figure = 'microsPerJob' in cost ? cost.microsPerJob[tier] : cost.microsPerSecond[tier];
  assert(figure !== undefined, `there is a cost for ${tier}`);
  return 'microsPerJob' in cost
    ? { microsPerJob: figure }
    : { microsPerSecond: figure, inputSeconds: false };
}

function targetOf({ resolution, resolutionLimit }: Asked): EnhancedResolution {
  return resolution ?? tierHolding(resolutionLimit ?? 0);
}

/** The smallest tier whose short side is at least the limit. */
function tierHolding(limit: number): EnhancedResolution {
  return enhancedResolutions.find((tier) => shortSides[tier] >= limit) ?? '4k';
}
