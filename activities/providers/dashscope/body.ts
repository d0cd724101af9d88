// The body of a create: the model, its `input` and its `parameters`.

import type { RequestedJob } from '../../../src/jobs/job.rules';
import type { Family, Place } from './families';
import { familyOf } from './families';

/** The options of metadata that are passed on, and whether they belong to `input`. */
const inputOptions = ['negative_prompt', 'template'];
export const options: readonly string[] = [
  ...inputOptions,
  'prompt_extend',
  'shot_type',
  'enable_thinking',
  'audio_setting',
];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the body of a create. The options from the caller's metadata come first, so that they
 * cannot replace our fields.
 */
export function createBody(job: RequestedJob, upstreamModel: string): Fields {
  const { request, plan } = job;
  const family = familyOf(upstreamModel);
  const sent = Object.entries(request.metadata.passThrough);
  const isOfInput = ([name]: readonly [string, unknown]) => inputOptions.includes(name);
  return {
    model: upstreamModel,
    input: {
      ...Object.fromEntries(sent.filter(isOfInput)),
      prompt: request.prompt,
      ...mediaOf(placedMedia(job, family)),
    },
    parameters: {
      ...Object.fromEntries(sent.filter((one) => !isOfInput(one))),
      ...frameOf(job, family),
      duration: plan.durationSeconds,
      seed: plan.seed,
      watermark: request.metadata.watermark,
      ...(family.audioSwitch && plan.generateAudio !== null ? { audio: plan.generateAudio } : {}),
    },
  };
}

/** The catalogue has already refused media for which the family has no place. */
type Placed = readonly [place: Place | undefined, url: string];

function placedMedia({ request, plan }: RequestedJob, family: Family): readonly Placed[] {
  const { images, videos, audios } = request;
  if (plan.inputType === 'first_last_frame') {
    return images.map((url, index) => [family.frames?.[index], url] as const);
  }
  return [
    ...images.map((url) => [family.image, url] as const),
    ...videos.map((url) => [family.video, url] as const),
    ...audios.map((url) => [family.audio, url] as const),
  ];
}

function mediaOf(placed: readonly Placed[]): Fields {
  const input: Record<string, unknown> = {};
  const append = (name: string, value: unknown) => {
    input[name] = [...((input[name] as unknown[] | undefined) ?? []), value];
  };
  for (const [place, sent] of placed) {
    // The URL as our parser writes it. The provider's parser could find another host in the
    // caller's original text.
    const url = new URL(sent).href;
    if (!place) throw new Error('The model takes no such media.'); // Untested: only a defect.
    if ('media' in place) append('media', { type: place.media, url });
    else if ('list' in place) append(place.list, url);
    else input[place.field] = url;
  }
  return input;
}

function frameOf({ plan }: RequestedJob, { frame }: Family): Fields {
  const { resolution, ratio, width, height } = plan;
  const tier = { resolution: resolution.toUpperCase() };
  const size = { size: `${width}*${height}` };
  switch (frame) {
    case 'size':
      return size;
    case 'size and tier':
      return { ...size, ...tier };
    case 'tier':
      return tier;
    case 'tier and ratio':
      return { ...tier, ratio };
    case 'mode and ratio':
      return { mode: resolution === '720p' ? 'std' : 'pro', aspect_ratio: ratio };
  }
}
