/*
 * Parses the bodies of creates. As in the other protocols, fields that the studio does not know are
 * ignored. A callback address is accepted, but the studio never calls it.
 */

import { randomInt } from 'node:crypto';
import { isObject } from '../../http';
import type { EnhancementRequest, GenerationRequest } from '../../jobs/job';
import type { Model, Resolution } from '../../jobs/models';
import { findModel, RATIOS } from '../../jobs/models';
import { invalid, missing } from '../../protocol-error';
import type { Body } from '../fields';
import {
  given,
  innerUrl,
  isHttpUrl,
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalWord,
  requiredString,
} from '../fields';
import { type Content, parseContent } from './content';

const NAMES = ['MiniMax-H3', 'MiniMax-H3-Max'];
const EXPIRES_AFTER_SECONDS = 172_800;

/** The words of the protocol for the studio's tiers. */
export const WORDS: Partial<Record<Resolution, string>> = {
  '480p': '480P',
  '720p': '768P',
  '2k': '2K',
};

export function parseGeneration(body: Body): GenerationRequest {
  const model = parseModel(body);
  const content = parseContent(body, model);
  const { min, max } = model.durations;
  optionalString(body, 'callback_url', 2048);
  checkExtra(body, model);
  return {
    model: model.name,
    ...content,
    resolution: parseResolution(body, model),
    duration: optionalInteger(body, 'duration', min, max) ?? 5,
    ratio: parseRatio(body, content),
    seed: randomInt(2 ** 31),
    watermark: optionalBoolean(body, 'aigc_watermark') ?? false,
    generateAudio: true,
    draft: false,
    returnLastFrame: false,
    executionExpiresAfter: EXPIRES_AFTER_SECONDS,
  };
}

/** `sourceUrl` returns the video of an earlier task, which must be finished. */
export function parseRegeneration(
  body: Body,
  sourceUrl: (id: string) => string,
): EnhancementRequest {
  if (parseModel(body).name !== NAMES[0])
    throw invalid('model', `only ${NAMES[0]} enlarges videos`);
  if (requiredString(body, 'resolution', 10) !== WORDS['2k']) {
    throw invalid('resolution', 'it must be 2K');
  }
  const source = optionalString(body, 'source_task_id', 64);
  const videoUrl = source === undefined ? baseVideo(body) : sourceUrl(source);
  return { videoUrl, resolution: '2k', toolVersion: 'standard' };
}

function parseModel(body: Body): Model {
  const name = requiredString(body, 'model', 200);
  const model = NAMES.includes(name) ? findModel(name) : undefined;
  if (model) return model;
  throw invalid('model', `${name} is not supported`);
}

function parseResolution(body: Body, { resolutions, name }: Model): Resolution {
  const offered = resolutions.map((resolution) => WORDS[resolution]!);
  const word = optionalWord(body, 'resolution', offered) ?? '768P';
  const found = resolutions.find((resolution) => WORDS[resolution] === word);
  if (found) return found;
  throw invalid('resolution', `${name} offers ${offered.join(', ')}`);
}

/** A video with frames has the ratio of its first frame; a prompt alone needs a fixed ratio. */
function parseRatio(body: Body, { images, videos, audios }: Content): string {
  const ratio = optionalWord(body, 'ratio', [...RATIOS, 'adaptive']);
  if (images.length + videos.length + audios.length === 0) {
    if (ratio === 'adaptive') throw invalid('ratio', 'text alone has no adaptive ratio');
    return ratio ?? '16:9';
  }
  const hasFrames = images.some(({ role }) => role === 'first_frame');
  return hasFrames ? 'adaptive' : (ratio ?? 'adaptive');
}

function checkExtra(body: Body, { name }: Model): void {
  const extra = given(body, 'extra');
  if (extra === undefined) return;
  if (!isObject(extra)) throw invalid('extra', 'it must be an object');
  const mode = optionalWord(extra, 'prompt_expansion_mode', ['disabled', 'balanced', 'quality']);
  if (mode !== undefined && name !== NAMES[1]) throw invalid('extra', `${name} has no such mode`);
}

function baseVideo(body: Body): string {
  const list = given(body, 'content');
  const [element] = Array.isArray(list) ? list : [];
  if (!isObject(element) || element.role !== 'base_video') throw missing('source_task_id');
  const url = innerUrl(element, 'video_url', 'content[0]');
  if (isHttpUrl(url)) return url;
  throw invalid('content[0].video_url.url', 'it must be an http(s) address');
}
