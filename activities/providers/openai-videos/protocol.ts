// OpenAI videos (`/v1/videos`): a generator. Many self-hosted servers and gateways speak it, each in
// a dialect of its own.

import type { Limits } from '../../../src/catalogue/limits.rules';
import type { BrokenPromise, Promises, Protocol } from '../protocol';
import { setsPrice } from '../sets-price';
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
