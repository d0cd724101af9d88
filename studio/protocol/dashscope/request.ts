/* Parses the body of a create: the model, its `input` and its `parameters`. */

import { randomInt } from 'node:crypto';
import { isObject } from '../../http';
import type { GenerationRequest } from '../../jobs/job';
import type { Resolution } from '../../jobs/models';
import { findModel, RATIOS } from '../../jobs/models';
import { invalid } from '../../protocol-error';
import type { Body } from '../fields';
import {
  given,
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalWord,
  requiredString,
} from '../fields';
import type { Family } from './families';
import { familyOf, RENDERED_AS } from './families';
import { parseMedia } from './media';

const EXPIRES_AFTER_SECONDS = 86_400;

export function parseCreate(body: Body, path: string): GenerationRequest {
  const family = familyOf(requiredString(body, 'model', 200));
  if ((family.path ?? 'video-generation') !== path) throw invalid('url', 'url error');
  const input = objectOf(body, 'input');
  const parameters = objectOf(body, 'parameters');
  const prompt = optionalString(input, 'prompt', 20_000);
  if (!prompt && family.takesText) throw invalid('input.prompt', 'it must not be empty');
  const seed = optionalInteger(parameters, 'seed', 0, 2 ** 31 - 1);
  const audio = optionalBoolean(parameters, 'audio');
  if (audio !== undefined && !family.hasAudioSwitch) {
    throw invalid('parameters.audio', 'the model has no such parameter');
  }
  return {
    model: RENDERED_AS,
    prompt: prompt ?? '',
    ...parseMedia(input, family),
    ...parseFrame(parameters, family),
    duration: parseDuration(parameters, family),
    seed: seed ?? randomInt(2 ** 31),
    watermark: optionalBoolean(parameters, 'watermark') ?? false,
    generateAudio: audio ?? true,
    draft: false,
    returnLastFrame: false,
    executionExpiresAfter: EXPIRES_AFTER_SECONDS,
  };
}

export function objectOf(body: Body, name: string): Body {
  const value = given(body, name) ?? {};
  if (isObject(value)) return value;
  throw invalid(name, 'it must be an object');
}

function parseDuration(parameters: Body, { seconds }: Family): number {
  const { min, max, canChoose } = seconds;
  const duration = optionalInteger(parameters, 'duration', canChoose ? -1 : min, max) ?? 5;
  if (duration === -1 || duration >= min) return duration;
  throw invalid('parameters.duration', `it must be from ${min} to ${max}`);
}

function parseFrame(parameters: Body, family: Family) {
  if (family.frame === 'size' && given(parameters, 'size') !== undefined) {
    return parseSize(parameters, family);
  }
  if (family.frame === 'mode') {
    const mode = optionalWord(parameters, 'mode', ['std', 'pro']) ?? 'pro';
    const ratio = optionalWord(parameters, 'aspect_ratio', ['16:9', '9:16', '1:1']);
    return {
      resolution: mode === 'std' ? ('720p' as const) : ('1080p' as const),
      ratio: ratio ?? '16:9',
    };
  }
  const resolution = parseTier(parameters, family);
  if (family.frame === 'tier') return { resolution, ratio: 'adaptive' };
  const choices = family.seconds.canChoose ? [...RATIOS, 'adaptive' as const] : RATIOS;
  const ratio = optionalWord(parameters, 'ratio', choices);
  return { resolution, ratio: ratio ?? (family.seconds.canChoose ? 'adaptive' : '16:9') };
}

function parseTier(parameters: Body, { tiers }: Family): Resolution {
  const words = tiers.map((tier) => tier.toUpperCase());
  const tier = optionalWord(parameters, 'resolution', words);
  return tier === undefined ? tiers.at(-1)! : (tier.toLowerCase() as Resolution);
}

function parseSize(parameters: Body, { tiers }: Family) {
  const size = optionalString(parameters, 'size', 20);
  const { sizes } = findModel(RENDERED_AS)!;
  for (const resolution of tiers) {
    for (const ratio of RATIOS) {
      const { width, height } = sizes[resolution][ratio];
      if (size === `${width}*${height}`) return { resolution, ratio };
    }
  }
  throw invalid('parameters.size', `the model does not make ${size}`);
}
