// The bodies of creates: a generation, and the enlargement of a video, which the protocol calls a
// regeneration.

import type { Resolution } from '../../../src/contract/vocabulary';
import type { RequestedJob } from '../../../src/jobs/job.rules';

/** The names of our tiers. A model may sell the tier of 768 lines also as `720p`. */
export const tiers: Readonly<Partial<Record<Resolution, string>>> = {
  '480p': '480P',
  '720p': '768P',
  '768p': '768P',
};
/** The only tier to which the protocol enlarges. */
export const enlarged = { tier: '2k', word: '2K' } as const;

/**
 * The options from the caller's metadata come first, so that they cannot replace our fields. A video
 * with frames has the ratio of its first frame. Without a ratio, references decide it.
 */
export function generationBody(input: RequestedJob, model: string): Record<string, unknown> {
  const { request, plan } = input;
  return {
    ...request.metadata.passThrough,
    model,
    content: contentOf(input),
    // The default tier of one model is the dearer one, so the tier is always sent.
    resolution: tiers[plan.resolution],
    duration: plan.durationSeconds,
    ...(plan.ratio === 'adaptive' ? {} : { ratio: plan.ratio }),
    ...(request.metadata.watermark ? { aigc_watermark: true } : {}),
  };
}

export function regenerationBody({ videoUrl }: RequestedJob, model: string): object {
  const video = { type: 'video_url', video_url: { url: videoUrl }, role: 'base_video' };
  return { model, content: [video], resolution: enlarged.word };
}

function contentOf({ request, plan }: RequestedJob): unknown[] {
  const roleOf = (index: number) => {
    if (plan.inputType === 'reference') return 'reference_image';
    return index === 0 ? 'first_frame' : 'last_frame';
  };
  return [
    { type: 'text', text: request.prompt },
    ...request.images.map((url, index) => media('image_url', url, roleOf(index))),
    ...request.videos.map((url) => media('video_url', url, 'reference_video')),
    ...request.audios.map((url) => media('audio_url', url, 'reference_audio')),
  ];
}

/**
 * The URL is written as our parser writes it. The provider's parser could find another host in the
 * caller's original text.
 */
function media(type: string, url: string, role: string) {
  return { type, [type]: { url: new URL(url).href }, role };
}
