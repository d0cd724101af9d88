// OpenAI videos (`/v1/videos`): a generator. Many self-hosted servers and gateways speak it, each in
// a dialect of its own.

import { plainOf } from '../../../src/contract/near-names';
import type { Limits } from '../../../src/domain/limits';
import type { BrokenPromise, Promises, Protocol } from '../protocol';
import { createOpenaiVideos } from './client';
import { profileNamed, profileNames } from './profiles';

export const openaiVideos: Protocol = {
  does: ['generation'],
  profiles: profileNames,
  resultsNeedKey: true,
  needsMeter: true,
  brokenPromises,
  limits,
  trusts: ['honoursIdempotencyKey'],
  connect: createOpenaiVideos,
};

/**
 * What a gateway could understand as another length, size, quality, number of videos, model, picture
 * or sound, or as an object of more options. Parts of a plain name; `^` and `$` are its ends.
 */
const priced = new RegExp(
  [
    ...['duration', 'second', '^secs?$', 'numsec', 'length', 'frames?$', '^num.*frame'],
    ...['size', 'width', 'height', 'dimension', 'pixel', 'resolution', 'aspect', '^ratio'],
    ...['quality', 'definition', 'upscal', 'tier', 'priority', 'model', 'checkpoint', 'engine'],
    ...[
      '^(enable|is)?(hd|pro)(mode)?$',
      '^n$',
      '^num$',
      '(?<!dis|ac)counts?$',
      'number',
      'samples$',
    ],
    ...['outputs', 'batch', 'varia', 'clips', 'generations', 'copies'],
    ...['image', 'img', 'photo', 'video', 'picture', 'reference'],
    ...['audio', 'sound', 'voice', 'music', 'bgm', 'speech'],
    ...['metadata', 'param', 'options$', 'config', 'settings', 'overrides', 'kwargs', 'payload'],
    ...['^extra', '^input', '^target$', '^advanced$'],
  ].join('|'),
);

/** An object or a list sets what is priced if a name inside does. */
function setsPrice(name: string, value: unknown): boolean {
  if (priced.test(plainOf(name))) return true;
  const isNested = typeof value === 'object' && value !== null;
  return isNested && Object.entries(value).some(([inner, one]) => setsPrice(inner, one));
}

/** No dialect has a mark or a name of the end user; each one has its own options. */
function limits(name: string | null): Partial<Limits> {
  const { takesSeed, options } = profileNamed(name);
  return {
    ignores: ['watermark', 'safety_identifier', ...(takesSeed ? [] : (['seed'] as const))],
    ...(options === 'all' ? { refuses: setsPrice } : { options }),
  };
}

/** The protocol takes a prompt, a size, a length and one image. */
function brokenPromises(model: Promises): readonly BrokenPromise[] {
  const { inputs } = model;
  const rules: readonly (readonly [isBroken: boolean, path: readonly string[], what: string])[] = [
    [
      inputs.types.includes('first_last_frame'),
      ['inputs', 'types'],
      'takes no first and last frame',
    ],
    [inputs.referenceImagesMax > 1, ['inputs', 'referenceImagesMax'], 'takes one image at most'],
    [inputs.videosMax > 0, ['inputs', 'videosMax'], 'takes no videos'],
    [inputs.audiosMax > 0, ['inputs', 'audiosMax'], 'takes no audios'],
    [model.ratios.includes('adaptive'), ['ratios'], 'needs a fixed size, so not "adaptive"'],
    [model.durations.auto, ['durations', 'auto'], 'needs a fixed length'],
    [model.audio, ['audio'], 'cannot switch audio on and off'],
    [model.draft !== null, ['draft'], 'has no drafts'],
    [model.tools.length > 0, ['tools'], 'has no tools'],
    [model.lastFrame, ['lastFrame'], 'returns no last frame'],
  ];
  return rules.flatMap(([isBroken, path, sentence]) => (isBroken ? [{ path, sentence }] : []));
}
