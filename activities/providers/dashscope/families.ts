// The families of models that DashScope carries. Each family names its media and its size in its own
// way, and the name of the model tells its family. A name that is not in the table is sent like the
// newest family.

import type { Resolution } from '../../../src/contract/vocabulary';

/** The place of an address in `input`: an element of `media`, a field, or a list. */
export type Place =
  | { readonly media: string }
  | { readonly field: string }
  | { readonly list: string };

export interface Family {
  readonly names: RegExp;
  /** True if the family makes videos from a prompt alone. */
  readonly text: boolean;
  /** The places of the first and the last frame; absent if the family does not take both. */
  readonly frames?: readonly [first: Place, last: Place];
  /** The places of references. A family that animates one image has its first frame here. */
  readonly image?: Place;
  readonly imagesMax?: number;
  readonly video?: Place;
  readonly audio?: Place;
  /**
   * The names of the size. `tier`: the video has the shape of its image, so no ratio can be asked
   * for. `mode`: a quality stands for the tier.
   */
  readonly frame: 'size' | 'size and tier' | 'tier' | 'tier and ratio' | 'mode and ratio';
  readonly tiers: readonly Resolution[];
  /** True if the family chooses a ratio or a length itself when asked. */
  readonly chooses?: true;
  readonly audioSwitch?: true;
  /** The part of the path of a create; `video-generation` by default. */
  readonly path?: 'image2video';
}

const media = (type: string): Place => ({ media: type });
const field = (name: string): Place => ({ field: name });
const frames = [media('first_frame'), media('last_frame')] as const;
const threeTiers = ['480p', '720p', '1080p'] as const;
const twoTiers = ['720p', '1080p'] as const;

const newest: Family = {
  names: /^wan3\.0-video/,
  text: true,
  frames,
  image: media('reference_image'),
  imagesMax: 10,
  video: media('reference_video'),
  audio: media('reference_audio'),
  frame: 'tier and ratio',
  tiers: threeTiers,
  chooses: true,
  audioSwitch: true,
};

const vidu = { tiers: ['540p', '720p', '1080p'], audioSwitch: true } as const;

const families: readonly Family[] = [
  newest,
  { names: /^wanx?2\.[0-6].*-t2v/, text: true, frame: 'size', tiers: threeTiers },
  {
    names: /^wanx?2\.[0-6].*-kf2v/,
    text: false,
    frames: [field('first_frame_url'), field('last_frame_url')],
    frame: 'tier',
    tiers: threeTiers,
    path: 'image2video',
  },
  {
    names: /^wan2\.6.*-i2v/,
    text: false,
    image: field('img_url'),
    frame: 'tier',
    tiers: threeTiers,
    audioSwitch: true,
  },
  {
    names: /^wanx?2\.[0-5].*-i2v/,
    text: false,
    image: field('img_url'),
    frame: 'tier',
    tiers: threeTiers,
  },
  {
    names: /^wan2\.6.*-r2v/,
    text: false,
    image: { list: 'reference_urls' },
    imagesMax: 5,
    video: { list: 'reference_urls' },
    frame: 'size',
    tiers: threeTiers,
    audioSwitch: true,
  },
  { names: /^wan2\.7.*-t2v/, text: true, frame: 'tier and ratio', tiers: twoTiers },
  {
    names: /^wan2\.7.*-i2v/,
    text: false,
    frames,
    image: media('first_frame'),
    frame: 'tier',
    tiers: twoTiers,
  },
  {
    names: /^wan2\.7.*-r2v/,
    text: false,
    image: media('reference_image'),
    imagesMax: 5,
    video: media('reference_video'),
    frame: 'tier and ratio',
    tiers: twoTiers,
  },
  { names: /^happyhorse-.*-t2v/, text: true, frame: 'tier and ratio', tiers: twoTiers },
  {
    names: /^happyhorse-.*-i2v/,
    text: false,
    image: media('first_frame'),
    frame: 'tier',
    tiers: twoTiers,
  },
  {
    names: /^happyhorse-.*-r2v/,
    text: false,
    image: media('reference_image'),
    imagesMax: 9,
    frame: 'tier and ratio',
    tiers: twoTiers,
  },
  {
    names: /^kling\/.*-omni-/,
    text: true,
    frames,
    image: media('refer'),
    imagesMax: 7,
    video: media('feature'),
    frame: 'mode and ratio',
    tiers: twoTiers,
    audioSwitch: true,
  },
  {
    names: /^kling\//,
    text: true,
    frames,
    image: media('first_frame'),
    frame: 'mode and ratio',
    tiers: twoTiers,
    audioSwitch: true,
  },
  { ...vidu, names: /^vidu\/.*_text2video$/, text: true, frame: 'size and tier' },
  { ...vidu, names: /^vidu\/.*_img2video$/, text: false, image: media('image'), frame: 'tier' },
  {
    ...vidu,
    names: /^vidu\/.*_start-end2video$/,
    text: false,
    frames: [media('image'), media('image')],
    frame: 'tier',
  },
  {
    ...vidu,
    names: /^vidu\/.*_reference2video$/,
    text: false,
    image: media('image'),
    imagesMax: 7,
    frame: 'size and tier',
  },
  {
    names: /^MiniMax\//,
    text: true,
    frames,
    image: media('image_url'),
    imagesMax: 9,
    video: media('feature'),
    audio: media('driving_audio'),
    frame: 'tier and ratio',
    tiers: twoTiers,
  },
];

export function familyOf(upstreamModel: string): Family {
  return families.find(({ names }) => names.test(upstreamModel)) ?? newest;
}
