// Request + catalogue → Plan, or everything that speaks against it. Whatever the model cannot do is refused here, at
// submission, and never left to fail later. Pure: the one thing that is random, the seed, is drawn by the caller and
// handed in. Shapes, words and ranges of the document have been checked before, when the request was parsed.

import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import { checkUrl } from './address';
import type { Catalogue, Model } from './catalogue';
import { findModel, selectEntry } from './catalogue';
import { inferInputType, inputTypeFaults, modelInputFaults } from './input-type';
import type { EnhancementPlan, Plan } from './plan-types';
import { holdFor } from './pricing';
import type { Frame } from './resolution';
import { enhancementFaults, list, resolveFrame } from './resolution';

export interface PlanGiven {
  /** Drawn by the caller; used where the request names none, so that a lost job can be recognised by it. */
  readonly seed: number;
  /** Exact `host:port` pairs that the address rules do not apply to. */
  readonly allowHosts?: readonly string[];
  /** The models to name when the asked one is unknown; all of the catalogue's when left out. */
  readonly models?: readonly string[];
}

export type Planned =
  | { readonly plan: Plan; readonly refusals?: undefined }
  | { readonly plan?: undefined; readonly refusals: readonly Refusal[] };

export function planTask(request: VideoRequest, catalogue: Catalogue, given: PlanGiven): Planned {
  const refusals = addressFaults(request, given.allowHosts ?? []);
  const named = findModel(catalogue, request.model);
  if (!named) {
    refusals.push(unknownModel(request.model, given.models ?? Object.keys(catalogue.models)));
    return { refusals };
  }
  const model = selectEntry(catalogue, named, request.mode);
  const stated = request.input_type !== undefined;
  const inputType = request.input_type ?? inferInputType(request);
  const typeFaults = inputTypeFaults(inputType, stated, request);
  const { frame, faults: frameFaults } = resolveFrame(
    { ...request, draft: request.metadata.draft },
    model,
  );
  refusals.push(
    ...promptFaults(request.prompt, model),
    ...typeFaults,
    ...(typeFaults.length > 0 ? [] : modelInputFaults(inputType, stated, request, model)),
    ...frameFaults,
    ...durationFaults(request.duration, model),
    ...metadataFaults(request, model),
    ...(frameFaults.length > 0 ? [] : superResolutionFaults(request, frame, model, catalogue)),
  );
  if (refusals.length > 0) return { refusals };

  const enhancement = enhancementOf(request, catalogue);
  const durationSeconds = request.duration ?? model.defaults.durationSeconds;
  const generateAudio = model.audio ? (request.metadata.generate_audio ?? true) : null;
  const { price, hold } = holdFor({
    model,
    currency: catalogue.currency,
    resolution: frame.resolution,
    ratio: frame.ratio,
    durationSeconds,
    hasVideo: request.videos.length > 0,
    inputVideoSeconds: request.metadata.input_video_duration ?? null,
    draft: request.metadata.draft,
    audio: generateAudio,
    enhancement,
    superResolution: catalogue.superResolution,
  });
  const seed = request.metadata.seed;
  const plan: Plan = {
    model: request.model,
    entry: model.id,
    inputType,
    resolution: frame.resolution,
    ratio: frame.ratio,
    width: frame.size?.width ?? null,
    height: frame.size?.height ?? null,
    durationSeconds,
    generateAudio,
    draft: request.metadata.draft,
    // -1 asks for a random seed, in the generator's words too.
    seed: seed === undefined || seed === -1 ? given.seed : seed,
    expiresAfterSeconds: request.metadata.execution_expires_after,
    channels: model.channels,
    enhancement,
    price,
    hold,
  };
  return { plan };
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

// The generator also reads switches at the end of a prompt, loosely, and one of these would change what was priced.
const promptSwitches: Readonly<Record<string, string>> = {
  rs: 'resolution',
  resolution: 'resolution',
  rt: 'ratio',
  ratio: 'ratio',
  dur: 'duration',
  duration: 'duration',
  fps: 'metadata.super_resolution_config.fps',
  framespersecond: 'metadata.super_resolution_config.fps',
};
const promptSwitch = new RegExp(`--(${Object.keys(promptSwitches).join('|')})(?![a-z])`, 'gi');

function promptFaults(prompt: string, model: Model): Refusal[] {
  const faults: Refusal[] = [];
  // Characters as people count them; the cheap length comes first because it is never smaller.
  const chars = prompt.length > model.promptCharsMax ? [...prompt].length : prompt.length;
  if (chars > model.promptCharsMax) {
    faults.push({
      code: 'invalid_value',
      param: 'prompt',
      message: `prompt: at most ${model.promptCharsMax} characters on model "${model.id}"; got ${chars}.`,
    });
  }
  const switches = new Set(
    [...prompt.matchAll(promptSwitch)].map(([, word]) => word!.toLowerCase()),
  );
  for (const word of switches) {
    faults.push({
      code: 'invalid_value',
      param: 'prompt',
      message: `prompt: "--${word}" inside the prompt is not taken; send the field ${promptSwitches[word]} instead.`,
    });
  }
  return faults;
}

function addressFaults(request: VideoRequest, allowHosts: readonly string[]): Refusal[] {
  const faults: Refusal[] = [];
  const check = (param: string, text: string, schemes: ('https' | 'http')[], charsMax: number) => {
    const { fault } = checkUrl(text, { schemes, allowHosts, charsMax });
    if (fault !== undefined) {
      faults.push({ code: 'invalid_value', param, message: `${param}: ${fault}` });
    }
  };
  for (const [index, url] of request.images.entries()) {
    check(`images[${index}]`, url, ['https'], 2048);
  }
  for (const kind of ['videos', 'audios'] as const) {
    for (const [index, url] of request[kind].entries()) {
      check(`${kind}[${index}]`, url, ['https', 'http'], 2048);
    }
  }
  const { callback_url: callbackUrl } = request.metadata;
  if (callbackUrl !== undefined) check('metadata.callback_url', callbackUrl, ['https'], 1024);
  return faults;
}

function durationFaults(duration: number | undefined, model: Model): Refusal[] {
  if (duration === undefined) return [];
  const { min, max, auto } = model.durations;
  if (duration === -1 ? auto : duration >= min && duration <= max) return [];
  const allowed = `${min} to ${max} seconds${auto ? ', or -1' : ''}`;
  return [unsupported('duration', `model "${model.id}" makes ${allowed}; got ${duration}.`)];
}

function metadataFaults({ metadata, ...request }: VideoRequest, model: Model): Refusal[] {
  const faults: Refusal[] = [];
  const name = `model "${model.id}"`;
  if (metadata.generate_audio === true && !model.audio) {
    faults.push(
      unsupported(
        'metadata.generate_audio',
        `${name} makes silent videos; send false or leave it out.`,
      ),
    );
  }
  if (metadata.draft && !model.draft) {
    faults.push(
      unsupported('metadata.draft', `${name} has no draft mode; send false or leave it out.`),
    );
  }
  if (metadata.return_last_frame && metadata.draft && model.draft?.lastFrame === false) {
    faults.push(
      unsupported(
        'metadata.return_last_frame',
        `a draft on ${name} has no last frame; send false or leave it out.`,
      ),
    );
  }
  if (metadata.return_last_frame && !model.lastFrame) {
    faults.push(
      unsupported(
        'metadata.return_last_frame',
        `${name} does not return the last frame; send false or leave it out.`,
      ),
    );
  }
  const tools = metadata.tools ?? [];
  for (const [index, tool] of tools.entries()) {
    if (model.tools.includes(tool.type)) continue;
    const offer =
      model.tools.length > 0 ? `offers the tools ${list(model.tools)}` : 'offers no tools';
    faults.push(
      unsupported(
        `metadata.tools[${index}].type`,
        `${name} ${offer}; got "${tool.type.slice(0, 80)}".`,
      ),
    );
  }
  const media = request.images.length + request.videos.length + request.audios.length;
  if (tools.length > 0 && media > 0 && model.toolsTextOnly) {
    faults.push(
      unsupported(
        'metadata.tools',
        `${name} takes tools with a prompt only, not beside images, videos or audios.`,
      ),
    );
  }
  return faults;
}

function superResolutionFaults(
  { metadata }: VideoRequest,
  frame: Frame,
  model: Model,
  catalogue: Catalogue,
): Refusal[] {
  const config = metadata.super_resolution_config;
  if (!config) return [];
  if (catalogue.superResolution) return enhancementFaults(config, frame, model);
  return [
    unsupported(
      'metadata.super_resolution_config',
      'this service offers no super-resolution; leave it out or send {}.',
    ),
  ];
}

function enhancementOf({ metadata }: VideoRequest, catalogue: Catalogue): EnhancementPlan | null {
  const config = metadata.super_resolution_config;
  if (!config || !catalogue.superResolution) return null;
  return {
    channels: catalogue.superResolution.channels,
    resolution: config.resolution ?? null,
    resolutionLimit: config.resolution_limit ?? null,
    scene: config.scene ?? null,
    toolVersion: config.tool_version,
    fps: config.fps ?? null,
  };
}

function unsupported(param: string, sentence: string): Refusal {
  return { code: 'unsupported_value', param, message: `${param}: ${sentence}` };
}
