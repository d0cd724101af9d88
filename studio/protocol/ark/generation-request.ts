/*
 * Parses the body of a create request. Throws the first error, with the provider's code. Every
 * documented field is checked strictly, also against the abilities of the model.
 */

import { randomInt } from 'node:crypto';
import { isObject } from '../../http';
import type { GenerationRequest } from '../../jobs/job';
import type { Model } from '../../jobs/models';
import { findModel, RATIOS, RESOLUTIONS } from '../../jobs/models';
import { invalid, ProtocolError } from '../../protocol-error';
import type { Body } from '../fields';
import {
  given,
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalWord,
  requiredString,
} from '../fields';
import { parseContent } from './content';

const SEED_MAX = 2 ** 32 - 1;
const EXPIRES_AFTER_SECONDS = { min: 3600, max: 259_200, default: 172_800 };

export function parseGenerationRequest(body: Body): GenerationRequest {
  const model = parseModel(body);
  const content = parseContent(given(body, 'content'), model);
  checkTools(body, model, content);
  const isDraft = parseDraft(body, model);
  const expiry = EXPIRES_AFTER_SECONDS;
  const expiresAfter = optionalInteger(body, 'execution_expires_after', expiry.min, expiry.max);
  const seed = optionalInteger(body, 'seed', -1, SEED_MAX) ?? -1;
  return {
    model: model.name,
    ...content,
    resolution: parseResolution(body, model, isDraft),
    duration: parseDuration(body, model),
    ratio: optionalWord(body, 'ratio', [...RATIOS, 'adaptive']) ?? 'adaptive',
    seed: seed === -1 ? randomInt(2 ** 31) : seed,
    watermark: optionalBoolean(body, 'watermark') ?? false,
    generateAudio: parseAudio(body, model),
    draft: isDraft,
    returnLastFrame: parseLastFrame(body, model, isDraft),
    executionExpiresAfter: expiresAfter ?? expiry.default,
    safetyIdentifier: optionalString(body, 'safety_identifier', 64),
    priority: optionalInteger(body, 'priority', 0, 9),
  };
}

function parseModel(body: Body): Model {
  const name = requiredString(body, 'model', 200);
  const model = findModel(name);
  if (model) return model;
  throw new ProtocolError(
    404,
    'InvalidEndpointOrModel.NotFound',
    `The model or endpoint ${name} does not exist or you do not have access to it.`,
    'model',
  );
}

function parseResolution(body: Body, model: Model, isDraft: boolean) {
  const asked = optionalWord(body, 'resolution', RESOLUTIONS);
  if (isDraft && asked !== undefined && asked !== '480p') {
    throw invalid('resolution', 'a draft is always 480p');
  }
  const resolution = asked ?? (isDraft ? '480p' : '720p');
  if (model.resolutions.includes(resolution)) return resolution;
  throw invalid('resolution', `${model.name} offers ${model.resolutions.join(', ')}`);
}

function parseDuration(body: Body, model: Model): number {
  const { min, max, canChoose } = model.durations;
  const duration = optionalInteger(body, 'duration', canChoose ? -1 : min, max) ?? 5;
  if (duration !== -1 && duration < min) {
    const choice = canChoose ? ' or -1' : '';
    throw invalid('duration', `${model.name} makes ${min} to ${max} seconds${choice}`);
  }
  return duration;
}

function parseDraft(body: Body, model: Model): boolean {
  const draft = optionalBoolean(body, 'draft') ?? false;
  if (draft && !model.hasDraft) throw invalid('draft', `${model.name} has no drafts`);
  return draft;
}

function parseAudio(body: Body, model: Model): boolean {
  const asked = optionalBoolean(body, 'generate_audio');
  if (asked === true && !model.hasAudio) {
    throw invalid('generate_audio', `${model.name} is silent`);
  }
  return model.hasAudio && asked !== false;
}

function parseLastFrame(body: Body, model: Model, isDraft: boolean): boolean {
  const asked = optionalBoolean(body, 'return_last_frame') ?? false;
  if (asked && (isDraft || !model.hasLastFrame)) {
    throw invalid('return_last_frame', `${isDraft ? 'a draft' : model.name} has no last frame`);
  }
  return asked;
}

/** Only checks the tools. A search would change neither the video nor its tokens. */
function checkTools(
  body: Body,
  model: Model,
  content: Pick<GenerationRequest, 'images' | 'videos' | 'audios'>,
): void {
  const tools = given(body, 'tools');
  if (tools === undefined) return;
  if (!Array.isArray(tools)) throw invalid('tools', 'it must be a list');
  tools.forEach((tool: unknown, at) => {
    const isKnown = isObject(tool) && tool.type === 'web_search';
    if (!isKnown) throw invalid(`tools[${at}].type`, 'it must be web_search');
  });
  if (tools.length === 0) return;
  if (!model.hasWebSearch) throw invalid('tools', `${model.name} has no tools`);
  if (content.images.length + content.videos.length + content.audios.length > 0) {
    throw invalid('tools', 'web_search goes with text alone');
  }
}
