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
    ...['duration', 'second', 'length', 'frame'],
    ...['size', 'width', 'height', 'dimension', 'pixel', 'resolution', 'aspect', '^ratio'],
    ...['quality', 'upscal', 'tier', 'priority', '^model', '^hd$', '^pro$'],
    ...['^n$', '^num$', 'count$', 'number', 'samples$', 'outputs', 'batch', 'variations'],
    ...['image', 'video', 'picture', 'reference', 'audio', 'sound'],
    ...['metadata', 'param', '^options', 'provideroptions', 'config', '^extra', '^input', 'target'],
  ].join('|'),
);

/** No dialect has a mark or a name of the end user; each one has its own options. */
function limits(name: string | null): Partial<Limits> {
  const { takesSeed, options } = profileNamed(name);
  return {
    ignores: ['watermark', 'safety_identifier', ...(takesSeed ? [] : (['seed'] as const))],
    ...(options === 'all'
      ? { refuses: (name: string) => priced.test(plainOf(name)) }
      : { options }),
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
