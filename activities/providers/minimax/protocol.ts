// MiniMax videos, version 2: a generator, and an enhancer that enlarges videos to 2k.

import { promisedLengths } from '../../../src/catalogue/protocol-facts.rules';
import type { BrokenPromise, Promises, Protocol } from '../protocol';
import { setsPriceInside } from '../sets-price';
import { enlarged, tiers } from './body';
import { createMinimax } from './client';

export const minimax: Protocol = {
  does: ['generation', 'super_resolution'],
  // The list has the tasks of seven days. The sixth leaves a margin.
  listKeepsMs: 6 * 24 * 3_600_000,
  needsMeter: true,
  brokenPromises,
  limits: () => ({
    ignores: ['seed', 'safety_identifier'],
    options: ['extra'],
    refuses: (_, extra) => setsPriceInside(extra),
    ratios: { text: 'fixed', frames: 'image' },
  }),
  enhances: { bases: ['720p', '768p'], targets: [enlarged.tier], toolVersions: ['standard'] },
  connect: createMinimax,
};

function brokenPromises(model: Promises, upstreamModel: string): readonly BrokenPromise[] {
  const { inputs, durations } = model;
  const isMax = upstreamModel === 'MiniMax-H3-Max';
  const smallest = upstreamModel === 'MiniMax-H3' ? '480p' : null;
  const dear = model.resolutions.filter((tier) => !tiers[tier] || tier === smallest);
  const files = inputs.referenceImagesMax + inputs.videosMax + inputs.audiosMax;
  const rules: readonly (readonly [isBroken: boolean, path: readonly string[], what: string])[] = [
    [dear.length > 0, ['resolutions'], `makes no ${dear.join(' and no ')}`],
    [durations.auto, ['durations', 'auto'], 'needs a fixed length'],
    [inputs.middleFrames, ['inputs', 'middleFrames'], 'takes two frames at most'],
    [inputs.audioAlone, ['inputs', 'audioAlone'], 'takes audio beside an image or a video only'],
    [files > 12, ['inputs'], 'takes 12 references at most'],
    [isMax && files > 0, ['inputs'], 'takes no references'],
    [isMax && promisedLengths(model).shortest < 5, ['durations'], 'makes 5 seconds at least'],
    [promisedLengths(model).longest > 15, ['durations'], 'makes 15 seconds at most'],
    [model.audio, ['audio'], 'cannot switch audio on and off'],
    [model.draft !== null, ['draft'], 'has no drafts'],
    [model.tools.length > 0, ['tools'], 'has no tools'],
    [model.lastFrame, ['lastFrame'], 'returns no last frame'],
    [model.promptCharsMax > 7_000, ['promptCharsMax'], 'takes 7000 characters at most'],
  ];
  return rules.flatMap(([isBroken, path, sentence]) => (isBroken ? [{ path, sentence }] : []));
}
