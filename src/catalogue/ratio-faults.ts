// Checks the ratios of a model against what decides the ratio of its videos at its channels.

import { type CheckedFile, limitsOf, type Say } from './checked-file';
import type { Footage } from './limits.rules';
import { commonLimits } from './limits.rules';
import type { ModelEntry } from './schema';

export function ratioFaults(entry: ModelEntry, file: CheckedFile, say: Say): void {
  const { ratios: rules } = commonLimits(limitsOf(entry, file));
  const decided = footagesOf(entry.inputs).map((footage) => rules[footage]);
  const canAdapt = decided.some((by) => by !== 'fixed');
  const hasAdaptive = entry.ratios.includes('adaptive');
  if (hasAdaptive && !canAdapt) {
    say(['ratios'], 'a channel of the model needs a fixed ratio, not "adaptive"');
  }
  if (!hasAdaptive && decided.includes('image')) {
    say(
      ['ratios'],
      'a channel of the model needs "adaptive", because a video has the ratio of its first image',
    );
  }
  if (entry.defaults.ratio === 'adaptive' && decided.includes('fixed')) {
    say(
      ['defaults', 'ratio'],
      'a channel of the model needs a fixed ratio, unless a video has that of its first image',
    );
  }
}

/** What the videos of a model can be made from. */
function footagesOf(inputs: ModelEntry['inputs']): readonly Footage[] {
  const { types, referenceImagesMax, videosMax, audiosMax } = inputs;
  const isReference = types.includes('reference');
  const isTaken: Readonly<Record<Footage, boolean>> = {
    text: types.includes('text_to_video'),
    frames: types.includes('first_last_frame'),
    image: isReference && referenceImagesMax > 0,
    references: isReference && (referenceImagesMax > 1 || videosMax > 0 || audiosMax > 0),
  };
  return (Object.keys(isTaken) as Footage[]).filter((footage) => isTaken[footage]);
}
