// What a channel of a model cannot do although the API document has a field for it. The protocols
// of the channels say so. A request with such a field is refused, because a channel would silently
// leave the field out.

import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';

export interface Limits {
  /** Fields of metadata that a channel cannot pass on. */
  readonly ignores: readonly ('watermark' | 'seed' | 'safety_identifier')[];
  /** The other options of metadata that all channels pass on; null for any option. */
  readonly options: readonly string[] | null;
  /**
   * True if a video has the ratio of its first frame. A video from a prompt alone then needs a fixed
   * ratio.
   */
  readonly ratioFollowsFrames: boolean;
  /** True if a video from frames or from one image has the shape of its image, whatever the ratio. */
  readonly shapeOfFrames: boolean;
}

export const noLimits: Limits = {
  ignores: [],
  options: null,
  ratioFollowsFrames: false,
  shapeOfFrames: false,
};

/** The limits of a model: a field must pass through each of its channels. */
export function commonLimits(ofChannels: readonly Partial<Limits>[]): Limits {
  const listed = ofChannels.flatMap(({ options }) => (options ? [options] : []));
  const [first] = listed;
  return {
    ignores: [...new Set(ofChannels.flatMap(({ ignores = [] }) => ignores))],
    options: first?.filter((name) => listed.every((names) => names.includes(name))) ?? null,
    ratioFollowsFrames: ofChannels.some(({ ratioFollowsFrames }) => ratioFollowsFrames),
    shapeOfFrames: ofChannels.some(({ shapeOfFrames }) => shapeOfFrames),
  };
}

interface Limited {
  readonly id: string;
  readonly limits: Limits;
}

export function limitFaults(request: VideoRequest, model: Limited): Refusal[] {
  return [...optionFaults(request, model), ...shapeFaults(request, model)];
}

/** A request without a ratio has none that could be left out. */
function shapeFaults(
  { images, input_type: type, ratio, size }: VideoRequest,
  { id, limits }: Limited,
): Refusal[] {
  const isReference = type === 'reference' && images.length > 1;
  if (!limits.shapeOfFrames || images.length === 0 || isReference) return [];
  return Object.entries({ ratio, size }).flatMap(([param, sent]) => {
    const message = `${param}: model "${id}" makes the shape of the image; leave it out.`;
    return sent === undefined ? [] : [{ code: 'unsupported_value' as const, param, message }];
  });
}

function optionFaults({ metadata }: VideoRequest, { id, limits }: Limited): Refusal[] {
  const isSent = {
    watermark: metadata.watermark,
    // -1 asks for any seed.
    seed: metadata.seed !== undefined && metadata.seed !== -1,
    safety_identifier: metadata.safety_identifier !== undefined,
  };
  const others = Object.keys(metadata.passThrough);
  const names = [
    ...limits.ignores.filter((name) => isSent[name]),
    ...others.filter((name) => limits.options?.includes(name) === false),
  ];
  return names.map((name) => {
    const param = `metadata.${name.slice(0, 80)}`;
    const message = `${param}: model "${id}" does not have this option; leave it out.`;
    return { code: 'unsupported_value', param, message };
  });
}
