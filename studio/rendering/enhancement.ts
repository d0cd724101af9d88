/*
 * Enlarges one video. If the frame rate changes, frames are repeated or left out. Then each frame
 * is scaled with Lanczos. The sound is copied.
 */

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnhancementJob, EnhancementRequest, JobResult } from '../jobs/job';
import type { Size } from '../jobs/models';
import { even, TARGET_SHORT_SIDES } from '../jobs/models';
import type { Clip } from '../media/clips';
import { openVideo } from '../media/clips';
import { runFfmpeg } from '../media/ffmpeg';
import { MediaFault } from '../media/media-store';
import { encoder } from './composition';
import type { RenderTools } from './generation';

const INPUT_BYTES_MAX = 1_000_000_000;

/** Like the provider, the studio enlarges only videos of up to 2K. */
const INPUT_SIDE = { long: 2560, short: 1440 };

/** An enhancement that takes longer than this fails. */
const ENHANCE_MS = 600_000;

export async function renderEnhancement(
  job: EnhancementJob,
  tools: RenderTools,
): Promise<JobResult> {
  const { request } = job;
  const { media, ffmpeg, signal, workFolder } = tools;
  const file = await media.fetch(request.videoUrl, 'video', tools, INPUT_BYTES_MAX);
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
  const size = targetSize(request, clip);
  const fps = request.fps ?? clip.fps;
  const target = join(workFolder, 'video.mp4');
  // The container's length includes the sound, which may end a little after the picture. The length
  // is therefore rounded to whole frames.
  const seconds = Math.round(clip.seconds * clip.fps) / clip.fps;
  const frames = Math.round(seconds * fps);
  const filters = [
    ...changeRate(clip, fps),
    `scale=${size.width}:${size.height}:flags=lanczos`,
    'setsar=1',
    `trim=end_frame=${frames}`,
    'format=yuv420p',
  ];
  const args = [
    ...['-loglevel', 'error', ...clip.input, '-map', '0:v:0', '-map', '0:a:0?'],
    ...['-vf', filters.join(','), ...encoder(size), '-c:a', 'copy'],
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
  };
}

function targetSize(request: EnhancementRequest, clip: Size): Size {
  const named = TARGET_SHORT_SIDES[request.resolution ?? ''];
  const short = request.resolutionLimit ?? named ?? 1080;
  const factor = short / Math.min(clip.width, clip.height);
  return { width: even(clip.width * factor), height: even(clip.height * factor) };
}

function changeRate(clip: Clip, fps: number): string[] {
  if (fps === clip.fps) return [];
  // The filter `fps` may drop the last frames. The last picture is therefore first repeated for
  // half a second.
  return ['tpad=stop_mode=clone:stop_duration=0.5', `fps=${fps}`];
}
