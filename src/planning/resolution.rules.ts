// Determines the resolution, ratio and size of the video to generate, and checks whether the
// requested super-resolution is allowed for this video. The tables in this file belong to the API
// contract. The catalogue entry of a model lists the values that the model supports.

import type { Model, Size } from '../catalogue/catalogue.rules';
import { frameOfSize, sizeOf } from '../catalogue/catalogue.rules';
import type { Footage } from '../catalogue/limits.rules';
import type { Refusal } from '../contract/error';
import type { SuperResolutionConfig } from '../contract/request';
import type { EnhancedResolution, Ratio, Resolution } from '../contract/vocabulary';
import {
  contractRatios,
  contractResolutions,
  enhancedResolutions,
  resolutions,
} from '../contract/vocabulary';

/** The nominal short side of each tier, in pixels. */
export const shortSides: Readonly<Record<Resolution | EnhancedResolution, number>> = {
  '360p': 360,
  '480p': 480,
  '512p': 512,
  '540p': 540,
  '720p': 720,
  '768p': 768,
  '1080p': 1080,
  '2k': 1440,
  '4k': 2160,
};

/** The tiers above the base resolution. No tier is above 4k, so a 4k video cannot be enhanced. */
export function targetsOf(base: Resolution): readonly EnhancedResolution[] {
  return enhancedResolutions.filter((tier) => shortSides[tier] > shortSides[base]);
}

export interface Frame {
  readonly resolution: Resolution;
  readonly ratio: Ratio;
  readonly size: Size | null;
  /** The field that named the tier. It is `size` only if `resolution` is absent. */
  readonly from: 'resolution' | 'size';
  readonly explicit: boolean;
  /** False if the first image decides the ratio. */
  readonly takesRatio: boolean;
}

interface AskedFrame {
  readonly resolution?: Resolution;
  readonly ratio?: Ratio;
  readonly size?: string;
  readonly draft: boolean;
  readonly footage: Footage;
}

/**
 * Returns the resolution, ratio and size of the video to generate. Also returns all faults in the
 * fields of the request that set them.
 */
export function resolveFrame(asked: AskedFrame, model: Model): { frame: Frame; faults: Refusal[] } {
  const faults: Refusal[] = [];
  const bySize = asked.resolution === undefined ? readSize(asked.size, model, faults) : null;
  const tier = asked.resolution ?? bySize?.resolution;
  const from = asked.resolution === undefined && bySize ? 'size' : 'resolution';
  const decides = model.limits.ratios[asked.footage];
  const otherwise = decides === 'image' ? 'adaptive' : model.defaults.ratio;
  const ratio = asked.ratio ?? bySize?.ratio ?? otherwise;

  const isTierKnown = tier === undefined || model.resolutions.includes(tier);
  const isRatioKnown = model.ratios.includes(ratio);
  const foreign = contractFrameFaults(
    {
      ...(isTierKnown ? {} : { resolution: tier }),
      ...(isRatioKnown ? {} : { ratio }),
    },
    from,
  );
  faults.push(...foreign);
  const isForeign = (param: string) => foreign.some((fault) => fault.param === param);
  if (!isTierKnown && !isForeign(from)) {
    faults.push({
      code: 'unsupported_value',
      param: from,
      message: `${from}: model "${model.id}" renders ${list(model.resolutions)}, not ${tier}.`,
    });
  } else if (asked.draft && model.draft && tier !== undefined && tier !== '480p') {
    faults.push({
      code: 'conflicting_parameters',
      param: from,
      message: `${from}: a draft is always 480p; got ${tier}. Leave ${from} out, send 480p, or send metadata.draft false.`,
    });
  }
  if (!isRatioKnown && !isForeign('ratio')) {
    const param = asked.ratio === undefined ? from : 'ratio';
    faults.push({
      code: 'unsupported_value',
      param,
      message: `${param}: model "${model.id}" renders the ratios ${list(model.ratios)}, not ${ratio}.`,
    });
  }
  const why =
    (decides === 'image' && ratio !== 'adaptive' && 'the video has the ratio of its first image') ||
    (decides === 'fixed' && ratio === 'adaptive' && 'the video needs a fixed ratio');
  if (why && isRatioKnown) {
    const param = asked.ratio === undefined ? from : 'ratio';
    const message = `${param}: on model "${model.id}" ${why}; got ${ratio}.`;
    faults.push({ code: 'unsupported_value', param, message });
  }
  const resolution = asked.draft && model.draft ? '480p' : (tier ?? model.defaults.resolution);
  const size = sizeOf(model, resolution, ratio);
  const takesRatio = decides !== 'image';
  return {
    frame: { resolution, ratio, size, from, explicit: tier !== undefined, takesRatio },
    faults,
  };
}

/** The words outside the API document, which only models that list them take. */
export function contractFrameFaults(
  { resolution, ratio }: { readonly resolution?: Resolution; readonly ratio?: Ratio },
  from: Frame['from'] = 'resolution',
): Refusal[] {
  const faultOf = (param: string, known: readonly string[], sent: string | undefined): Refusal[] =>
    sent === undefined || known.includes(sent)
      ? []
      : [
          {
            code: 'invalid_value',
            param,
            message: `${param}: must be one of ${known.map((word) => `"${word}"`).join(', ')}; got "${sent}".`,
          },
        ];
  return [
    ...faultOf(from, contractResolutions, resolution),
    ...faultOf('ratio', contractRatios, ratio),
  ];
}

const dimensions = /^([1-9]\d{1,4})[xX*]([1-9]\d{1,4})$/;

/**
 * Reads `size`: a tier, or dimensions from the model's table. Returns null if `size` is absent or
 * invalid.
 */
function readSize(
  size: string | undefined,
  model: Model,
  faults: Refusal[],
): { resolution: Resolution; ratio?: Ratio } | null {
  if (size === undefined) return null;
  const tier = resolutions.find((resolution) => resolution === size);
  if (tier) return { resolution: tier };
  const match = dimensions.exec(size);
  const frame = match && frameOfSize(model, { width: Number(match[1]), height: Number(match[2]) });
  if (frame) return frame;
  const example = sizeOf(model, model.defaults.resolution, '16:9');
  faults.push({
    code: match ? 'unsupported_value' : 'invalid_value',
    param: 'size',
    message:
      `size: must be a tier (${list(model.resolutions)}) or dimensions that model "${model.id}" renders` +
      `${example ? ` (for example ${example.width}x${example.height})` : ''}; got "${size.slice(0, 40)}". ` +
      'Better send resolution and ratio.',
  });
  return null;
}

const enhancementParam = 'metadata.super_resolution_config';

/**
 * Returns the reasons why a video with this frame cannot be enhanced as requested. The parser has
 * already checked allowed values and ranges.
 */
export function enhancementFaults(
  config: SuperResolutionConfig,
  frame: Frame,
  model: Model,
): Refusal[] {
  const { resolution: base } = frame;
  const faults = enhancementTargetFaults(config, base);
  const shortSide = baseShortSide(frame, model);
  if (
    targetsOf(base).length > 0 &&
    config.resolution_limit !== undefined &&
    config.resolution_limit <= shortSide
  ) {
    const param = `${enhancementParam}.resolution_limit`;
    const message = `${param}: must be above ${limitSentence(config.resolution_limit, shortSide, frame, model)}`;
    faults.push({ code: 'unsupported_value', param, message });
  }
  return faults;
}

function limitSentence(limit: number, above: number, frame: Frame, model: Model): string {
  const { size, resolution, takesRatio } = frame;
  if (size) {
    const frameText = `${size.width}x${size.height} on "${model.id}"`;
    return `${above}, the short side of the base output (${frameText}); got ${limit}.`;
  }
  const lower = model.ratios.filter((ratio) => {
    const fixed = sizeOf(model, resolution, ratio);
    return fixed !== null && shortSideOf(fixed) < limit;
  });
  const advice =
    takesRatio && lower.length > 0 ? ` Send a ratio with a shorter side: ${list(lower)}.` : '';
  return (
    `${above}: with the ratio "adaptive" the short side of the base output may be up to ${above} ` +
    `(${resolution} on "${model.id}"); got ${limit}.${advice}`
  );
}

/** Checks only the contract's table of targets, which applies to every model. */
export function enhancementTargetFaults(
  config: SuperResolutionConfig,
  base: Resolution,
): Refusal[] {
  const targets = targetsOf(base);
  if (targets.length === 0) {
    const message = `${enhancementParam}: a base resolution of ${base} cannot be enhanced; send resolution 480p, 720p or 1080p.`;
    return [{ code: 'unsupported_value', param: enhancementParam, message }];
  }
  if (config.resolution === undefined || targets.includes(config.resolution)) return [];
  const param = `${enhancementParam}.resolution`;
  const message = `${param}: must be above the base resolution ${base}: ${list(targets)}; got ${config.resolution}.`;
  return [{ code: 'unsupported_value', param, message }];
}

/**
 * The real size of an `adaptive` video is known only after generation, so the largest short side of
 * the tier is used.
 */
function baseShortSide({ size, resolution }: Frame, model: Model): number {
  const sizes = size ? [size] : Object.values(model.pixels[resolution] ?? {});
  return Math.max(...sizes.map(shortSideOf));
}

function shortSideOf({ width, height }: Size): number {
  return Math.min(width, height);
}

export function list(words: readonly string[]): string {
  return words.join(', ');
}
