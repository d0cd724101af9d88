// Which channels of the catalogue can do a requested super-resolution. An enhancer may have limits,
// which its protocol states. A request that no channel can do is refused.

import type { Refusal } from '../contract/error';
import type { SuperResolutionConfig } from '../contract/request';
import type { EnhancedResolution, Resolution, ToolVersion } from '../contract/vocabulary';

/** An enhancer with limits takes no `resolution_limit`, no `scene` and no `fps`. */
export interface EnhancerLimits {
  /** The tiers of the videos that it enlarges. */
  readonly bases: readonly Resolution[];
  readonly targets: readonly EnhancedResolution[];
  readonly toolVersions: readonly ToolVersion[];
}

interface Offer {
  readonly channels: readonly string[];
  /** The limits by channel. A channel without an entry can do everything. */
  readonly limits: Readonly<Record<string, EnhancerLimits>>;
}

/** The channels that can do this, in order of preference. */
export function enhancersFor(
  config: SuperResolutionConfig,
  base: Resolution,
  { channels, limits }: Offer,
): readonly string[] {
  return channels.filter((channel) => {
    const limit = limits[channel];
    return !limit || beyond(config, base, limit) === null;
  });
}

export function enhancerFaults(
  config: SuperResolutionConfig,
  base: Resolution,
  offer: Offer,
): Refusal[] {
  if (enhancersFor(config, base, offer).length > 0) return [];
  const [preferred = ''] = offer.channels;
  const limit = offer.limits[preferred];
  const name = (limit && beyond(config, base, limit)) ?? 'resolution';
  const param = `metadata.super_resolution_config.${name}`;
  const message = `${param}: super-resolution of a ${base} video does not offer this; GET /v1/models shows what it offers.`;
  return [{ code: 'unsupported_value', param, message }];
}

/** The targets that some channel offers for videos of this tier. */
export function offeredTargets(
  targets: readonly EnhancedResolution[],
  base: Resolution,
  offer: Offer,
): readonly EnhancedResolution[] {
  const isOffered = (resolution: EnhancedResolution) =>
    enhancersFor({ resolution, tool_version: 'standard' }, base, offer).length > 0;
  return targets.filter(isOffered);
}

/** The option that is beyond the limits of an enhancer; null if it can do everything requested. */
function beyond(
  config: SuperResolutionConfig,
  base: Resolution,
  { bases, targets, toolVersions }: EnhancerLimits,
): keyof SuperResolutionConfig | null {
  const { resolution } = config;
  if (config.resolution_limit !== undefined) return 'resolution_limit';
  if (resolution && !(bases.includes(base) && targets.includes(resolution))) return 'resolution';
  if (!toolVersions.includes(config.tool_version)) return 'tool_version';
  if (config.scene !== undefined) return 'scene';
  return config.fps === undefined ? null : 'fps';
}
