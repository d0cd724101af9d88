// The path and the body of a create. The path says what the video is made from.

import type { JobInput, RequestedJob } from '../../../src/jobs/job.rules';

/** The options of metadata that are passed on. */
export const options: readonly string[] = [
  'negative_prompt',
  'cfg_scale',
  'multi_shot',
  'shot_type',
  'multi_prompt',
  'element_list',
  'camera_control',
];

export type Path = 'text2video' | 'image2video' | 'multi-image2video';

/** The paths at which the job of this plan may have been created. */
export function pathsOf({ plan }: JobInput): readonly Path[] {
  if (plan.inputType === 'text_to_video') return ['text2video'];
  if (plan.inputType === 'first_last_frame') return ['image2video'];
  return ['image2video', 'multi-image2video'];
}

export function pathOf(job: RequestedJob): Path {
  const [first, several] = pathsOf(job);
  return several && job.request.images.length > 1 ? several : first!;
}

/**
 * Returns the body of a create. The options from the caller's metadata come first, so that they
 * cannot replace our fields.
 */
export function createBody(
  job: RequestedJob,
  upstreamModel: string,
): Readonly<Record<string, unknown>> {
  const { request, plan, taskId } = job;
  const { passThrough, watermark } = request.metadata;
  const path = pathOf(job);
  return {
    ...passThrough,
    model_name: upstreamModel,
    prompt: request.prompt,
    mode: plan.resolution === '720p' ? 'std' : 'pro',
    duration: String(plan.durationSeconds),
    // A video from an image has the shape of the image.
    ...(path === 'image2video' ? {} : { aspect_ratio: plan.ratio }),
    ...(plan.generateAudio === null ? {} : { sound: plan.generateAudio ? 'on' : 'off' }),
    ...(watermark ? { watermark_info: { enabled: true } } : {}),
    ...imagesOf(path, request.images.map(asSent)),
    external_task_id: taskId,
  };
}

function imagesOf(path: Path, images: readonly string[]): Readonly<Record<string, unknown>> {
  if (path === 'text2video') return {};
  if (path === 'multi-image2video') return { image_list: images.map((image) => ({ image })) };
  const [image, last] = images;
  return { image, ...(last === undefined ? {} : { image_tail: last }) };
}

/**
 * An image is sent as base64 without `data:`, or as the URL that our parser writes. The provider's
 * parser could find another host in the caller's original text.
 */
function asSent(url: string): string {
  const inline = /^data:[^,]*;base64,/.exec(url);
  return inline ? url.slice(inline[0].length) : new URL(url).href;
}
