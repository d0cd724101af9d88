/*
 * Parses the fields of a create. The studio takes the image in the field of each dialect:
 * `input_reference`, `image_reference` or `reference_url`. Fields that it does not know are ignored.
 */

import { randomInt } from 'node:crypto';
import { isObject } from '../../http';
import type { GenerationRequest } from '../../jobs/job';
import type { Model } from '../../jobs/models';
import { findModel, RATIOS } from '../../jobs/models';
import { invalid, ProtocolError } from '../../protocol-error';
import type { Body } from '../fields';
import { given, isHttpUrl, optionalString, requiredString } from '../fields';
import { parsedObject } from './body';

const EXPIRES_AFTER_SECONDS = 172_800;

export function parseCreate(body: Body): GenerationRequest {
  const prompt = requiredString(body, 'prompt', 32_000);
  const model = parseModel(body);
  const image = parseImage(body);
  return {
    model: model.name,
    prompt,
    images: image === undefined ? [] : [{ url: image, role: 'first_frame' }],
    videos: [],
    audios: [],
    ...parseSize(body, model),
    duration: parseSeconds(body, model),
    seed: parseSeed(body),
    watermark: false,
    generateAudio: model.hasAudio,
    draft: false,
    returnLastFrame: false,
    executionExpiresAfter: EXPIRES_AFTER_SECONDS,
  };
}

function parseModel(body: Body): Model {
  const name = requiredString(body, 'model', 200);
  const model = findModel(name);
  if (model) return model;
  throw new ProtocolError(400, 'model_not_found', `The model ${name} does not exist.`, 'model');
}

function parseSize(body: Body, model: Model) {
  const size = optionalString(body, 'size', 20) ?? '720x1280';
  for (const resolution of model.resolutions) {
    for (const ratio of RATIOS) {
      const { width, height } = model.sizes[resolution][ratio];
      if (size === `${width}x${height}`) return { resolution, ratio };
    }
  }
  throw invalid('size', `${model.name} does not make ${size}`);
}

/** The length is a text; servers also accept a number. */
function parseSeconds(body: Body, model: Model): number {
  const { min, max } = model.durations;
  const seconds = Number(given(body, 'seconds') ?? 4);
  if (Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds;
  throw invalid('seconds', `${model.name} makes ${min} to ${max} seconds`);
}

function parseSeed(body: Body): number {
  const seed = Number(given(body, 'seed') ?? -1);
  if (!Number.isInteger(seed) || seed < -1) throw invalid('seed', 'it must be an integer');
  return seed === -1 ? randomInt(2 ** 31) : seed;
}

function parseImage(body: Body): string | undefined {
  for (const name of ['input_reference', 'image_reference', 'reference_url']) {
    const sent = parsedObject(given(body, name));
    if (sent === undefined) continue;
    const url = isObject(sent) ? sent.image_url : sent;
    const isInline = typeof url === 'string' && /^data:image\/[\w.+-]+;base64,/.test(url);
    if (typeof url === 'string' && (isInline || isHttpUrl(url))) return url;
    throw invalid(name, 'it must be a file or an object with an image_url');
  }
  return undefined;
}
