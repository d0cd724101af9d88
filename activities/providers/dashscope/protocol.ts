// DashScope (Alibaba Cloud Model Studio): a generator. It carries the models of several makers, and
// the name of a model at the provider tells how it is asked.

import type { BrokenPromise, Promises, Protocol } from '../protocol';
import { options } from './body';
import { createDashscope } from './client';
import { familyOf } from './families';

export const dashscope: Protocol = {
  does: ['generation'],
  needsMeter: true,
  brokenPromises,
  limits: () => ({
    ignores: ['safety_identifier'],
    options,
    seedMax: 2_147_483_647,
    inline: ['image'],
  }),
  connect: createDashscope,
};

function brokenPromises(model: Promises, upstreamModel: string): readonly BrokenPromise[] {
  const family = familyOf(upstreamModel);
  const { inputs, ratios, resolutions } = model;
  const { types } = inputs;
  const isShaped = family.frame === 'tier';
  const canAdapt = isShaped || family.chooses === true;
  const imagesMax = family.image ? (family.imagesMax ?? 1) : 0;
  const areListed = family.image && 'list' in family.image;
  const listed = inputs.referenceImagesMax + inputs.videosMax;
  const tiers = resolutions.filter((tier) => !family.tiers.includes(tier));
  const rules: readonly (readonly [isBroken: boolean, path: readonly string[], what: string])[] = [
    [types.includes('text_to_video') && !family.text, ['inputs', 'types'], 'needs an image'],
    [
      types.includes('first_last_frame') && !family.frames,
      ['inputs', 'types'],
      'takes no first and last frame',
    ],
    [inputs.middleFrames, ['inputs', 'middleFrames'], 'takes no frames between'],
    [
      inputs.referenceImagesMax > imagesMax,
      ['inputs', 'referenceImagesMax'],
      `takes ${imagesMax} images at most`,
    ],
    [
      areListed === true && listed > imagesMax,
      ['inputs'],
      `takes ${imagesMax} images and videos together at most`,
    ],
    [inputs.videosMax > 0 && !family.video, ['inputs', 'videosMax'], 'takes no videos'],
    [inputs.audiosMax > 0 && !family.audio, ['inputs', 'audiosMax'], 'takes no audios'],
    [tiers.length > 0, ['resolutions'], `does not make ${tiers.join(', ')}`],
    [
      isShaped && ratios.some((ratio) => ratio !== 'adaptive'),
      ['ratios'],
      'makes the shape of its image, so only "adaptive"',
    ],
    [ratios.includes('adaptive') && !canAdapt, ['ratios'], 'needs a fixed ratio, not "adaptive"'],
    [model.durations.auto && !family.chooses, ['durations', 'auto'], 'needs a fixed length'],
    [model.audio && !family.audioSwitch, ['audio'], 'cannot switch audio on and off'],
    [model.draft !== null, ['draft'], 'has no drafts'],
    [model.tools.length > 0, ['tools'], 'has no tools'],
    [model.lastFrame, ['lastFrame'], 'returns no last frame'],
  ];
  return rules.flatMap(([isBroken, path, sentence]) => (isBroken ? [{ path, sentence }] : []));
}
