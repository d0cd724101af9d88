// Finds fields that the model does not support, and URLs that are not allowed. Resolution and ratio
// are checked in resolution.rules.ts, the input type in input-type.rules.ts.

import type { Model } from '../catalogue/catalogue.rules';
import { makesLength } from '../catalogue/catalogue.rules';
import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import { contractSeconds } from '../contract/vocabulary';
import { checkUrl, howToAllow } from '../outbound/address.rules';
import { list } from './resolution.rules';

// The generator also reads switches in a prompt, for example `--dur`. A switch would change the
// video after the service has computed the price.
const promptSwitches: Readonly<Record<string, string>> = {
  rs: 'resolution',
  resolution: 'resolution',
  rt: 'ratio',
  ratio: 'ratio',
  dur: 'duration',
  duration: 'duration',
  frames: 'duration',
  fps: 'metadata.super_resolution_config.fps',
  framespersecond: 'metadata.super_resolution_config.fps',
};
// A dash inside a word is prose, as in "golden--ratio", unless a value follows. Scripts without spaces
// between words have no such dashes, so a switch may follow their letters.
const wordBefore = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}_]';
const withValue = '--[a-z]+[\\s=]+(?:-?\\d|adaptive|keep_ratio|smart)';
const promptSwitch = new RegExp(
  `(?:(?<!${wordBefore})|(?=${withValue}))--(${Object.keys(promptSwitches).join('|')})(?![\\p{L}_]|-\\p{L})`,
  'giu',
);

/** Space around a prompt says nothing, so it does not count. It is sent all the same. */
export function promptLengthFaults(sent: string, model: Model): Refusal[] {
  const prompt = sent.trim();
  // Counts code points, not UTF-16 units. `length` is checked first, because it is cheap and never
  // smaller than the number of code points.
  const chars = prompt.length > model.promptCharsMax ? [...prompt].length : prompt.length;
  if (chars <= model.promptCharsMax) return [];
  const message = `prompt: at most ${model.promptCharsMax} characters on model "${model.id}"; got ${chars}.`;
  return [{ code: 'invalid_value', param: 'prompt', message }];
}

export function promptSwitchFaults(prompt: string): Refusal[] {
  if (!prompt.includes('--')) return [];
  const switches = new Set(
    [...prompt.matchAll(promptSwitch)].map(([, word]) => word!.toLowerCase()),
  );
  return [...switches].map((word) => ({
    code: 'invalid_value',
    param: 'prompt',
    message: `prompt: "--${word}" inside the prompt is not taken; send the field ${promptSwitches[word]} instead.`,
  }));
}

interface AddressRules {
  readonly allowHosts?: readonly string[];
  /** The inputs that are files of this installation. input-files.rules.ts checks these inputs. */
  readonly files?: ReadonlyMap<string, unknown>;
}

const howToUpload = 'To use a file of your own, upload it with POST /v1/files and send its id.';

export function addressFaults(
  request: VideoRequest,
  { allowHosts = [], files }: AddressRules,
): Refusal[] {
  const faults: Refusal[] = [];
  const check = (param: string, text: string, schemes: ('https' | 'http')[], charsMax: number) => {
    const isInput = !param.startsWith('metadata.');
    const checked = checkUrl(text, { schemes, allowHosts, charsMax });
    if (checked.fault === undefined) return;
    const sentences = [`${param}: ${checked.fault}`];
    if (isInput && !URL.canParse(text)) sentences.push(howToUpload);
    if (checked.isInside) sentences.push(howToAllow);
    faults.push({ code: 'invalid_value', param, message: sentences.join(' ') });
  };
  for (const [index, url] of request.images.entries()) {
    if (!files?.has(url)) check(`images[${index}]`, url, ['https'], 2048);
  }
  for (const kind of ['videos', 'audios'] as const) {
    for (const [index, url] of request[kind].entries()) {
      if (!files?.has(url)) check(`${kind}[${index}]`, url, ['https', 'http'], 2048);
    }
  }
  const { callback_url: callbackUrl } = request.metadata;
  if (callbackUrl !== undefined) check('metadata.callback_url', callbackUrl, ['https'], 1024);
  return faults;
}

export function durationFaults(
  duration: number | undefined,
  model: Model,
  param = 'duration',
): Refusal[] {
  if (duration === undefined || makesLength(model.durations, duration)) return [];
  const { min, max, values, auto } = model.durations;
  const lengths = values ? list(values.map(String)) : `${min} to ${max}`;
  const allowed = `${lengths} seconds${auto ? ', or -1' : ''}`;
  const message = `${param}: model "${model.id}" makes ${allowed}; got ${duration}.`;
  return [{ code: codeOfLength(duration), param, message }];
}

/** Without a model, the lengths of the API document apply. */
export function contractDurationFaults(
  duration: number | undefined,
  param = 'duration',
): Refusal[] {
  if (duration === undefined || codeOfLength(duration) === 'unsupported_value') return [];
  const { min, max } = contractSeconds;
  const message = `${param}: must be ${min} to ${max} seconds, or -1; got ${duration}.`;
  return [{ code: 'invalid_value', param, message }];
}

/** A length outside the API document is invalid; another one is only not supported here. */
function codeOfLength(duration: number): 'invalid_value' | 'unsupported_value' {
  const { min, max } = contractSeconds;
  const isListed = duration === -1 || (duration >= min && duration <= max);
  return isListed ? 'unsupported_value' : 'invalid_value';
}

export function metadataFaults({ metadata, ...request }: VideoRequest, model: Model): Refusal[] {
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

export function unsupported(param: string, sentence: string): Refusal {
  return { code: 'unsupported_value', param, message: `${param}: ${sentence}` };
}
