/*
 * The families of models that this protocol carries. A family names its media and its size in its
 * own way. The names of the models are those of the provider; the studio renders all of them alike.
 */

import type { Resolution } from '../../jobs/models';
import { ProtocolError } from '../../protocol-error';

export type MediaUse = 'first_frame' | 'last_frame' | 'image' | 'video' | 'audio';

interface Medium {
  use: MediaUse;
  max: number;
}

export interface Family {
  names: RegExp;
  /** True if a prompt alone is enough. */
  takesText: boolean;
  /** The fields of `input` that have one address or a list of addresses. */
  fields?: Readonly<Record<string, Medium>>;
  /** The types of the elements of `input.media`. */
  media?: Readonly<Record<string, Medium>>;
  /** How the request names the size; `tier`: the video has the shape of its image. */
  frame: 'size' | 'tier' | 'ratio' | 'mode';
  tiers: readonly Resolution[];
  seconds: { min: number; max: number; canChoose?: boolean };
  hasAudioSwitch: boolean;
  path?: 'image2video';
}

const one = (use: MediaUse): Medium => ({ use, max: 1 });
const frames = { first_frame: one('first_frame'), last_frame: one('last_frame') };
const all: readonly Resolution[] = ['480p', '720p', '1080p'];
const two: readonly Resolution[] = ['720p', '1080p'];
const older = { tiers: all, seconds: { min: 2, max: 15 }, hasAudioSwitch: true };
const wan27 = { tiers: two, seconds: { min: 2, max: 15 }, hasAudioSwitch: false };
const horse = { tiers: two, seconds: { min: 3, max: 15 }, hasAudioSwitch: false };
const vidu = { tiers: two, seconds: { min: 1, max: 16 }, hasAudioSwitch: true };

const FAMILIES: readonly Family[] = [
  { ...older, names: /^wanx?2\.[0-6][\w.-]*-t2v/, takesText: true, frame: 'size' },
  {
    ...older,
    names: /^wanx?2\.[0-6][\w.-]*-kf2v/,
    takesText: false,
    fields: { first_frame_url: one('first_frame'), last_frame_url: one('last_frame') },
    frame: 'tier',
    path: 'image2video',
  },
  {
    ...older,
    names: /^wanx?2\.[0-6][\w.-]*-i2v/,
    takesText: false,
    fields: { img_url: one('first_frame'), audio_url: one('audio') },
    frame: 'tier',
  },
  {
    ...older,
    names: /^wan2\.6[\w.-]*-r2v/,
    takesText: false,
    fields: { reference_urls: { use: 'image', max: 5 } },
    frame: 'size',
  },
  { ...wan27, names: /^wan2\.7[\w.-]*-t2v/, takesText: true, frame: 'ratio' },
  {
    ...wan27,
    names: /^wan2\.7[\w.-]*-i2v/,
    takesText: false,
    fields: { img_url: one('first_frame') },
    media: { ...frames, driving_audio: one('audio'), first_clip: one('video') },
    frame: 'tier',
  },
  {
    ...wan27,
    names: /^wan2\.7[\w.-]*-r2v/,
    takesText: false,
    media: {
      reference_image: { use: 'image', max: 5 },
      reference_video: { use: 'video', max: 3 },
      first_frame: one('first_frame'),
    },
    frame: 'ratio',
  },
  {
    names: /^wan3\.0-video(-prime)?$/,
    takesText: true,
    media: {
      ...frames,
      reference_image: { use: 'image', max: 10 },
      reference_video: { use: 'video', max: 5 },
      reference_audio: { use: 'audio', max: 5 },
    },
    frame: 'ratio',
    tiers: all,
    seconds: { min: 2, max: 30, canChoose: true },
    hasAudioSwitch: true,
  },
  { ...horse, names: /^happyhorse-[\d.]+-t2v/, takesText: true, frame: 'ratio' },
  {
    ...horse,
    names: /^happyhorse-[\d.]+-i2v/,
    takesText: false,
    media: { first_frame: one('first_frame') },
    frame: 'tier',
  },
  {
    ...horse,
    names: /^happyhorse-[\d.]+-r2v/,
    takesText: false,
    media: { reference_image: { use: 'image', max: 9 } },
    frame: 'ratio',
  },
  {
    names: /^kling\/kling-v3(-omni)?-video-generation$/,
    takesText: true,
    media: { ...frames, refer: { use: 'image', max: 7 }, feature: one('video') },
    frame: 'mode',
    tiers: two,
    seconds: { min: 3, max: 15 },
    hasAudioSwitch: true,
  },
  { ...vidu, names: /^vidu\/[\w.-]+_text2video$/, takesText: true, frame: 'size' },
  {
    ...vidu,
    names: /^vidu\/[\w.-]+_img2video$/,
    takesText: false,
    media: { image: one('first_frame') },
    frame: 'tier',
  },
  {
    ...vidu,
    names: /^vidu\/[\w.-]+_start-end2video$/,
    takesText: false,
    media: { image: { use: 'first_frame', max: 2 } },
    frame: 'tier',
  },
  {
    ...vidu,
    names: /^vidu\/[\w.-]+_reference2video$/,
    takesText: false,
    media: { image: { use: 'image', max: 7 } },
    frame: 'size',
  },
  {
    names: /^MiniMax\/MiniMax-H3$/,
    takesText: true,
    media: {
      ...frames,
      image_url: { use: 'image', max: 9 },
      feature: { use: 'video', max: 3 },
      driving_audio: { use: 'audio', max: 3 },
    },
    frame: 'ratio',
    tiers: two,
    seconds: { min: 4, max: 15 },
    hasAudioSwitch: false,
  },
];

export function familyOf(name: string): Family {
  const family = FAMILIES.find(({ names }) => names.test(name));
  if (family) return family;
  throw new ProtocolError(404, 'ModelNotFound', 'Model not exist.', 'model');
}

/** The model of the studio that renders the videos of all families. */
export const RENDERED_AS = 'studio-2.0';
