// What a channel of a model cannot do although the API document has a field for it. The protocols
// of the channels say so. A request with such a field is refused, because a channel would silently
// leave the field out.

import type { Refusal } from '../contract/error';
import type { VideoRequest } from '../contract/request';
import { contractSeedMax, type InputType } from '../contract/vocabulary';
import type { Media } from '../files/media-type.rules';

/** What most generators take inside a request. */
export const inlineKinds: readonly Media[] = ['image', 'audio'];

export interface Limits {
  /** Fields of metadata that a channel cannot pass on. */
  readonly ignores: readonly ('watermark' | 'seed' | 'safety_identifier')[];
  /** The other options of metadata that all channels pass on; null for any option. */
  readonly options: readonly string[] | null;
  /** The kinds of files that each channel takes inside a request. */
  readonly inline: readonly Media[];
  /** The highest seed that a channel takes. */
  readonly seedMax: number;
  /** True for an option that a channel would pass on, although it sets what is priced. */
  readonly refuses: (name: string, value: unknown) => boolean;
  /**
   * What decides the ratio of a video, by what it is made from. `image`: its first image, so a request
   * has no ratio or `adaptive`. `fixed`: the request, with any ratio but `adaptive`. Without an entry,
   * the request decides, and may leave it to the generator.
   */
  readonly ratios: RatioRules;
}

/** What a video is made from, as far as its ratio depends on it. `image`: one reference image. */
export type Footage = 'text' | 'frames' | 'image' | 'references';

export type RatioRules = Readonly<Partial<Record<Footage, 'image' | 'fixed'>>>;

export function footageOf(
  inputType: InputType,
  { images, videos, audios }: Pick<VideoRequest, 'images' | 'videos' | 'audios'>,
): Footage {
  if (inputType === 'text_to_video') return 'text';
  if (inputType === 'first_last_frame') return 'frames';
  return images.length === 1 && videos.length + audios.length === 0 ? 'image' : 'references';
}

/** The limits of a model: a field must pass through each of its channels. */
export function commonLimits(ofChannels: readonly Partial<Limits>[]): Limits {
  const listed = ofChannels.flatMap(({ options }) => (options ? [options] : []));
  const [first] = listed;
  return {
    ignores: [...new Set(ofChannels.flatMap(({ ignores = [] }) => ignores))],
    options: first?.filter((name) => listed.every((names) => names.includes(name))) ?? null,
    inline: inlineKinds.filter((kind) =>
      ofChannels.every(({ inline = inlineKinds }) => inline.includes(kind)),
    ),
    seedMax: Math.min(...ofChannels.map(({ seedMax = contractSeedMax }) => seedMax)),
    refuses: (name, value) => ofChannels.some(({ refuses }) => refuses?.(name, value)),
    ratios: Object.assign({}, ...ofChannels.map(({ ratios = {} }) => ratios)) as RatioRules,
  };
}

interface Limited {
  readonly id: string;
  readonly limits: Limits;
}

// Whether a generator has such an option is not known.
const setsPriceSentence =
  'this name, or one inside it, could change what is priced, so it is not passed on; leave it out.';

export function limitFaults({ metadata }: VideoRequest, { id, limits }: Limited): Refusal[] {
  const isSent = {
    watermark: metadata.watermark,
    // -1 asks for any seed.
    seed: metadata.seed !== undefined && metadata.seed !== -1,
    safety_identifier: metadata.safety_identifier !== undefined,
  };
  const fault = (name: string, sentence: string): Refusal => {
    const param = `metadata.${name.slice(0, 80)}`;
    return { code: 'unsupported_value', param, message: `${param}: ${sentence}` };
  };
  const absent = `model "${id}" does not have this option; leave it out.`;
  const sentenceAbout = (name: string, value: unknown): string | null => {
    if (limits.options?.includes(name) === false) return absent;
    return limits.refuses(name, value) ? setsPriceSentence : null;
  };
  const isLarge = (metadata.seed ?? 0) > limits.seedMax;
  return [
    ...limits.ignores.filter((name) => isSent[name]).map((name) => fault(name, absent)),
    ...Object.entries(metadata.passThrough).flatMap(([name, value]) => {
      const sentence = sentenceAbout(name, value);
      return sentence === null ? [] : [fault(name, sentence)];
    }),
    ...(isLarge ? [fault('seed', `model "${id}" takes seeds up to ${limits.seedMax}.`)] : []),
  ];
}
