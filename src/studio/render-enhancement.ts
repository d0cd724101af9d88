/*
 * Enlarges one video: frames are interpolated first, while they are small, then scaled with
 * Lanczos. The sound is copied as it is.
 */

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clip } from './clips';
import { openVideo } from './clips';
import { TARGET_SHORT_SIDES } from './enhancement-order';
import { runFfmpeg } from './ffmpeg';
import { encoder } from './film';
import type { EnhancementJob, EnhancementOrder, JobResult } from './jobs';
import { MediaFault } from './media';
import type { Size } from './models';
import { even } from './models';
import type { RenderTools } from './render-generation';

const INPUT_BYTES_MAX = 1_000_000_000;

/** The protocol's own limit for what may be enlarged: 2K. */
const INPUT_SIDE = { long: 2560, short: 1440 };

/** A job that takes longer than this is not waited for. */
const ENHANCE_MS = 600_000;

/**
 * Motion is estimated up to 720p, and only as long as it takes about a minute on two cores (five
 * seconds of 720p to 60 frames a second); else neighbouring frames are blended.
 */
const ESTIMATED_SHORT_SIDE_MAX = 720;
const ESTIMATED_PIXELS_MAX = 1280 * 720 * 300;

export async function renderEnhancement(
  job: EnhancementJob,
  tools: RenderTools,
): Promise<JobResult> {
  const { order } = job;
  const { media, ffmpeg, signal, workFolder } = tools;
  const file = await media.fetch(order.videoUrl, 'video', workFolder, INPUT_BYTES_MAX);
  const clip = await openVideo(file, 'The video', ffmpeg, signal);
  if (!clip.input) {
    throw new MediaFault(
      'The video is not of this studio, and only ffmpeg 5 or newer may open it.',
    );
  }
  const sides = [clip.width, clip.height];
  if (Math.max(...sides) > INPUT_SIDE.long || Math.min(...sides) > INPUT_SIDE.short) {
    throw new MediaFault(`The video is ${clip.width}×${clip.height}, which is above 2K.`);
  }
  const size = targetSize(order, clip);
  const fps = order.fps ?? clip.fps;
  const target = join(workFolder, 'video.mp4');
  // The container's length is its sound's, up to a packet longer than the picture.
  const seconds = Math.round(clip.seconds * clip.fps) / clip.fps;
  const frames = Math.round(seconds * fps);
  const filters = [
    ...changeRate(clip, fps),
    ...restore(order),
    `scale=${size.width}:${size.height}:flags=lanczos`,
    'setsar=1',
    `trim=end_frame=${frames}`,
    'format=yuv420p',
  ];
  const args = [
    ...['-loglevel', 'error', ...clip.input, '-map', '0:v:0', '-map', '0:a:0?'],
    ...['-vf', filters.join(','), ...encoder(size), '-crf', quality(order), '-c:a', 'copy'],
    ...['-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'mp4'],
  ];
  await runFfmpeg(ffmpeg, { args: [...args, target], timeoutMs: ENHANCE_MS, signal });
  await mkdir(tools.resultFolder, { recursive: true });
  await rename(target, join(tools.resultFolder, 'video.mp4'));
  return {
    ...size,
    fps,
    durationSeconds: Math.round(seconds * 1000) / 1000,
    inputVideoSeconds: clip.seconds,
    hasLastFrame: false,
  };
}

function targetSize(order: EnhancementOrder, clip: Size): Size {
  const named = TARGET_SHORT_SIDES[order.resolution ?? ''];
  const short = order.resolutionLimit ?? named ?? 1080;
  const factor = short / Math.min(clip.width, clip.height);
  return { width: even(clip.width * factor), height: even(clip.height * factor) };
}

function changeRate(clip: Clip, fps: number): string[] {
  if (fps === clip.fps) return [];
  if (fps < clip.fps) return [`fps=${fps}`];
  // Interpolation eats the last frames, for want of a next one: the picture is held a little
  // longer.
  const hold = 'tpad=stop_mode=clone:stop_duration=0.5';
  const pixels = clip.width * clip.height * clip.seconds * fps;
  const isSmall = Math.min(clip.width, clip.height) <= ESTIMATED_SHORT_SIDE_MAX;
  if (isSmall && pixels <= ESTIMATED_PIXELS_MAX) {
    return [
      hold,
      `minterpolate=fps=${fps}:mi_mode=mci:mc_mode=obmc:me_mode=bilat:me=epzs:scd=none`,
    ];
  }
  return [hold, `minterpolate=fps=${fps}:mi_mode=blend:scd=none`];
}

/** A touch of what the scene asks for; `professional` looks more closely. */
function restore(order: EnhancementOrder): string[] {
  const denoise: Record<string, string[]> = {
    old_film: ['hqdn3d=3:2:6:4'],
    ugc: ['hqdn3d=1.5:1:3:2'],
  };
  const sharpen = order.toolVersion === 'professional' ? ['unsharp=5:5:0.5:3:3:0'] : [];
  return [...(denoise[order.scene] ?? []), ...sharpen];
}

function quality(order: EnhancementOrder): string {
  return { low: '27', medium: '22', high: '18' }[order.bitrateLevel] ?? '22';
}
