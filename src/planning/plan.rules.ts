// Makes the Plan of a request from the catalogue, or returns all faults. A request that the model
// cannot fulfil is refused here, not later by the generator. The functions are pure, so the caller
// draws the random seed. The parser has already checked allowed values and ranges.

import type { Catalogue, Model, SuperResolutionOffer } from '../catalogue/catalogue.rules';
import { findModel, presentEntry, selectEntry, soldInstead } from '../catalogue/catalogue.rules';
import { footageOf, limitFaults } from '../catalogue/limits.rules';
import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import type { InputType, Resolution } from '../contract/vocabulary';
import {
  addressFaults,
  contractDurationFaults,
  durationFaults,
  metadataFaults,
  promptLengthFaults,
  promptSwitchFaults,
  unsupported,
} from './ability-faults.rules';
import { drawnOrder } from './channel-order.rules';
import { enhancementCosts } from './enhancement-price.rules';
import { enhancerFaults, enhancersFor } from './enhancers.rules';
import { fileIds, type InputFiles, inputFileFaults, referenceMsToHold } from './input-files.rules';
import { inferInputType, inputTypeFaults, modelInputFaults } from './input-type.rules';
import {
  noEnhancerAllowed,
  type Permissions,
  permissionFault,
  withOwnChannels,
  withOwnEnhancers,
} from './permissions.rules';
import type { EnhancementPlan, Plan } from './plan-types.rules';
import { holdFor } from './pricing.rules';
import type { Frame } from './resolution.rules';
import {
  contractFrameFaults,
  enhancementFaults,
  enhancementTargetFaults,
  list,
  resolveFrame,
} from './resolution.rules';

export interface PlanGiven {
  /**
   * A random seed, used if the request has no seed. A lost job can be identified by a drawn seed
   * (docs/decisions.md, 6).
   */
  readonly seed: number;
  /** The time for which models may have retired, in milliseconds; without it, none has. */
  readonly now?: number;
  /** The field in which the caller sent the length; `duration` by default. */
  readonly lengthFrom?: 'seconds';
  /** Exact `host:port` pairs that are exempt from the address rules. */
  readonly allowHosts?: readonly string[];
  /** Inputs that are files of this installation. */
  readonly files?: InputFiles;
  /** What the key of the caller may use; without it, everything. */
  readonly permissions?: Permissions;
  /** True if the stated length of the reference videos sets the hold. */
  readonly trustsLengths?: boolean;
  /**
   * Returns the models that the refusal of an unknown model lists; by default all models of the
   * catalogue.
   */
  readonly models?: () => readonly string[];
}

type Planned =
  | { readonly plan: Plan; readonly refusals?: undefined }
  | { readonly plan?: undefined; readonly refusals: readonly Refusal[] };

export function planTask(request: VideoRequest, catalogue: Catalogue, given: PlanGiven): Planned {
  const files = given.files ?? noFiles;
  const named = findModel(catalogue, request.model);
  const selected = named && selectEntry(catalogue, named, request.mode);
  const model = selected && presentEntry(catalogue, selected, given.now ?? 0);
  const refusals = [
    ...addressFaults(request, given),
    ...inputFileFaults(request, files, model?.limits.inline),
  ];
  if (!model) {
    const models = () => given.models?.() ?? Object.keys(catalogue.models);
    const fault = selected
      ? retired(selected, soldInstead(catalogue, selected, given.now ?? 0))
      : unknownModel(request.model, models());
    return { refusals: [...refusals, fault, ...faultsOnAnyModel(request, given)] };
  }
  const footage = footageOf(inputTypeOf(request), request);
  const asked = { ...request, draft: request.metadata.draft, footage };
  const { frame, faults: frameFaults } = resolveFrame(asked, model);
  refusals.push(
    ...promptLengthFaults(request.prompt, model),
    ...promptSwitchFaults(request.prompt),
    ...inputFaults(request, model),
    ...frameFaults,
    ...durationFaults(request.duration, model, given.lengthFrom),
    ...metadataFaults(request, model),
    ...limitFaults(request, model),
    ...(frameFaults.length > 0 ? [] : superResolutionFaults(request, frame, model, catalogue)),
  );
  if (refusals.length > 0) return { refusals };
  const permissions = given.permissions ?? everything;
  const own = withOwnChannels(model, permissions);
  const offer = withOwnEnhancers(catalogue.superResolution, permissions);
  const enhancement = enhancementOf(request, frame.resolution, offer);
  const isUnenhanced = request.metadata.super_resolution_config && !enhancement?.channels.length;
  const fault = permissionFault(own, permissions) ?? (isUnenhanced ? noEnhancerAllowed : null);
  if (fault) return { refusals: [fault] };
  const offered = { ...catalogue, superResolution: offer };
  return { plan: fillIn(request, own, frame, enhancement, offered, given) };
}

const noFiles: InputFiles = new Map();
const everything: Permissions = { models: null, channels: null };

// A provider may use the seed of this switch instead of ours.
const seedSwitch = /--seed(?![a-z])/i;

/**
 * Returns the plan of a request without faults. Fields that the request does not contain get the
 * model's defaults.
 */
function fillIn(
  request: VideoRequest,
  model: Model,
  frame: Frame,
  enhancement: EnhancementPlan | null,
  catalogue: Catalogue,
  { seed: drawnSeed, files = noFiles, trustsLengths = false }: PlanGiven,
): Plan {
  const { metadata } = request;
  const { resolution, ratio, size } = frame;
  const durationSeconds = request.duration ?? model.defaults.durationSeconds;
  const inputFiles = fileIds(files);
  // -1 asks for a random seed, as in the generator's protocol.
  const givenSeed = metadata.seed === -1 ? undefined : metadata.seed;
  const generateAudio = model.audio ? (metadata.generate_audio ?? true) : null;
  return {
    model: request.model,
    entry: model.id,
    inputType: inputTypeOf(request),
    resolution,
    ratio,
    width: size?.width ?? null,
    height: size?.height ?? null,
    durationSeconds,
    generateAudio,
    draft: metadata.draft,
    seed: givenSeed ?? drawnSeed,
    seedIsDrawn: givenSeed === undefined && !seedSwitch.test(request.prompt),
    expiresAfterSeconds: metadata.execution_expires_after,
    returnsLastFrame: metadata.return_last_frame,
    ...(inputFiles ? { files: inputFiles } : {}),
    enhancement,
    chargeMaxFactor: catalogue.chargeMaxFactor,
    ...(catalogue.priceList === undefined ? {} : { priceList: catalogue.priceList }),
    ...holdFor({
      model: { ...model, channels: drawnOrder(model.channels, drawnSeed) },
      currency: catalogue.currency,
      resolution,
      ratio,
      durationSeconds,
      hasVideo: request.videos.length > 0,
      referenceMs: referenceMsToHold(
        request.videos.length,
        metadata.input_video_duration,
        trustsLengths,
      ),
      draft: metadata.draft,
      audio: generateAudio,
      enhancement,
      superResolution: catalogue.superResolution,
    }),
  };
}

function inputTypeOf(request: VideoRequest): InputType {
  return request.input_type ?? inferInputType(request);
}

/**
 * If a request breaks the API document's rules for its input type, the model's rules are not
 * checked.
 */
function inputFaults(request: VideoRequest, model: Model): Refusal[] {
  const stated = request.input_type !== undefined;
  const faults = inputTypeFaults(inputTypeOf(request), stated, request);
  if (faults.length > 0) return faults;
  return modelInputFaults(inputTypeOf(request), stated, request, model);
}

/** Faults that can be found without a model, because no model would accept them. */
function faultsOnAnyModel(request: VideoRequest, { lengthFrom }: PlanGiven): Refusal[] {
  const stated = request.input_type !== undefined;
  const { super_resolution_config: config, draft } = request.metadata;
  // For a draft, or without `resolution`, the model chooses the base resolution. The base
  // resolution is then unknown here.
  const base = draft ? undefined : request.resolution;
  return [
    ...promptSwitchFaults(request.prompt),
    ...contractFrameFaults(request),
    ...contractDurationFaults(request.duration, lengthFrom),
    ...inputTypeFaults(inputTypeOf(request), stated, request),
    ...(config && base ? enhancementTargetFaults(config, base) : []),
  ];
}

function unknownModel(name: string, models: readonly string[]): Refusal {
  const known =
    models.length > 0 ? `This key may use: ${list(models)}` : 'This key may use no model';
  return {
    code: 'model_not_found',
    param: 'model',
    message: `model: there is no model "${name.slice(0, 80)}". ${known}.`,
  };
}

function retired({ id, retires }: Model, other: string | null): Refusal {
  const instead = other === null ? '' : ` Use "${other}" instead.`;
  const message = `model: "${id}" is not sold any more since ${retires}.${instead}`;
  return { code: 'model_not_found', param: 'model', message };
}

function superResolutionFaults(
  { metadata }: VideoRequest,
  frame: Frame,
  model: Model,
  catalogue: Catalogue,
): Refusal[] {
  const config = metadata.super_resolution_config;
  if (!config) return [];
  if (catalogue.superResolution && model.enhanceable) {
    const faults = enhancementFaults(config, frame, model);
    if (faults.length > 0) return faults;
    return enhancerFaults(config, frame.resolution, catalogue.superResolution);
  }
  const what = model.enhanceable ? 'this service' : `model "${model.id}"`;
  return [
    unsupported(
      'metadata.super_resolution_config',
      `${what} offers no super-resolution; leave it out or send {}.`,
    ),
  ];
}

function enhancementOf(
  { metadata }: VideoRequest,
  base: Resolution,
  offer: SuperResolutionOffer | null,
): EnhancementPlan | null {
  const config = metadata.super_resolution_config;
  if (!config || !offer) return null;
  const asked = {
    resolution: config.resolution ?? null,
    resolutionLimit: config.resolution_limit ?? null,
    scene: config.scene ?? null,
    toolVersion: config.tool_version,
    fps: config.fps ?? null,
  };
  const channels = enhancersFor(config, base, offer);
  const costs = enhancementCosts(offer, asked, channels);
  return { channels, ...(Object.keys(costs).length > 0 ? { costs } : {}), ...asked };
}
