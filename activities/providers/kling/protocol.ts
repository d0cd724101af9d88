// Kling: a generator. Its quality stands for the resolution, and a video from an image has the shape
// of the image.

import { promisedLengths } from '../../../src/catalogue/protocol-facts.rules';
import type { BrokenPromise, Promises, Protocol } from '../protocol';
import { options } from './body';
import { createKling } from './client';

const imagesMax = 4;
const tiers = ['720p', '1080p'];
const ratios = ['16:9', '9:16', '1:1', 'adaptive'];

export const kling: Protocol = {
  does: ['generation'],
  // Tasks are kept for 30 days. Two of them are a margin.
  listKeepsMs: 28 * 24 * 3_600_000,
  needsMeter: true,
  brokenPromises,
  limits: () => ({
    ignores: ['seed', 'safety_identifier'],
    options,
    ratios: { text: 'fixed', frames: 'image', image: 'image', references: 'fixed' },
  }),
  connect: createKling,
};

function brokenPromises(model: Promises): readonly BrokenPromise[] {
  const { inputs } = model;
  const { shortest, longest } = promisedLengths(model);
  const otherRatios = model.ratios.filter((ratio) => !ratios.includes(ratio));
  const otherTiers = model.resolutions.filter((tier) => !tiers.includes(tier));
  const rules: readonly (readonly [isBroken: boolean, path: readonly string[], what: string])[] = [
    [inputs.middleFrames, ['inputs', 'middleFrames'], 'takes no frames between'],
    [
      inputs.referenceImagesMax > imagesMax,
      ['inputs', 'referenceImagesMax'],
      `takes ${imagesMax} images at most`,
    ],
    [inputs.videosMax > 0, ['inputs', 'videosMax'], 'takes no videos'],
    [inputs.audiosMax > 0, ['inputs', 'audiosMax'], 'takes no audios'],
    [otherTiers.length > 0, ['resolutions'], `does not make ${otherTiers.join(', ')}`],
    [otherRatios.length > 0, ['ratios'], `does not make ${otherRatios.join(', ')}`],
    [model.durations.auto, ['durations', 'auto'], 'needs a fixed length'],
    [shortest < 3 || longest > 15, ['durations'], 'makes 3 to 15 seconds'],
    [model.promptCharsMax > 2_500, ['promptCharsMax'], 'takes 2500 characters at most'],
    [model.draft !== null, ['draft'], 'has no drafts'],
    [model.tools.length > 0, ['tools'], 'has no tools'],
    [model.lastFrame, ['lastFrame'], 'returns no last frame'],
  ];
  return rules.flatMap(([isBroken, path, sentence]) => (isBroken ? [{ path, sentence }] : []));
}
