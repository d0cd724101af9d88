/*
 * Renders the video of one generation: fetches and checks the media, composes the layers, and runs
 * ffmpeg once. Files reach the result folder only if everything succeeded.
 */

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerationJob, GenerationRequest, JobResult } from '../jobs/job';
import type { Size } from '../jobs/models';
import { even, FPS } from '../jobs/models';
import { plannedSeconds, plannedSize } from '../jobs/planned-result';
import type { Clip } from '../media/clips';
import { openAudio, openVideo } from '../media/clips';
import type { Ffmpeg } from '../media/ffmpeg';
import { runFfmpeg } from '../media/ffmpeg';
import type { MediaStore } from '../media/media-store';
import { MediaFault } from '../media/media-store';
import { inspectPicture } from '../media/pictures';
import type { Composition } from './composition';
import { ffmpegArguments } from './composition';
import type { Picture, Stage } from './layers';
import { cardLayers, markLayers, sceneLayers, stillLayers, titleLayers } from './layers';
import { drawScene } from './scene';

export interface RenderTools {
  ffmpeg: Ffmpeg;
  media: MediaStore;
  signal: AbortSignal;
  /** This folder is deleted after the job has ended. */
  workFolder: string;
  resultFolder: string;
}

/**
 * This limit ends only processes that hang. Even a small machine renders fifteen seconds of 4k in
 * two minutes.
 */
const RENDER_MS = 600_000;

/**
 * Videos with more pixels are composed at half their width and height and then enlarged. This is
 * faster, and the difference is hardly visible.
 */
const COMPOSED_PIXELS_MAX = 2_200_000;

/** The provider's limits for the number of pixels in a frame of a reference video. */
const VIDEO_PIXELS = { min: 409_600, max: 2_086_876 };

interface Inputs {
  pictures: Picture[];
  videos: Clip[];
  audios: Clip[];
}

export async function renderGeneration(job: GenerationJob, tools: RenderTools): Promise<JobResult> {
  const { request } = job;
  const inputs = await fetchInputs(request, tools);
  const size = plannedSize(request, inputs.pictures[0]?.size);
  const stage: Stage = {
    canvas: composedSize(size),
    seconds: plannedSeconds(request),
    folder: tools.workFolder,
  };
  const composition = await compose(request, inputs, stage, size);
  await runFfmpeg(tools.ffmpeg, {
    args: ffmpegArguments(composition),
    timeoutMs: RENDER_MS,
    signal: tools.signal,
  });
  await mkdir(tools.resultFolder, { recursive: true });
  await rename(composition.videoFile, join(tools.resultFolder, 'video.mp4'));
  if (composition.lastFrameFile !== undefined) {
    await rename(composition.lastFrameFile, join(tools.resultFolder, 'last-frame.png'));
  }
  return {
    ...size,
    fps: FPS,
    durationSeconds: stage.seconds,
    inputVideoSeconds: inputs.videos.reduce((sum, clip) => sum + clip.seconds, 0),
  };
}

async function compose(
  request: GenerationRequest,
  inputs: Inputs,
  stage: Stage,
  size: Size,
): Promise<Composition> {
  const isStills = request.images.some((image) => image.role !== 'reference_image');
  const cards = isStills ? inputs.videos : [...inputs.pictures, ...inputs.videos];
  const layers = isStills
    ? await stillLayers(inputs.pictures, stage)
    : await sceneLayers(drawScene(request.prompt, request.seed, stage.canvas), stage);
  layers.push(...(await cardLayers(cards, stage)));
  layers.push(...(await titleLayers(request, stage)));
  const clips = inputs.audios.flatMap(({ input }) => (input ? [input] : []));
  return {
    canvas: stage.canvas,
    size,
    seconds: stage.seconds,
    // The real generator makes and bills one frame more than the seconds count.
    frames: stage.seconds * FPS + 1,
    layers,
    overlays: await markLayers(request, stage),
    sound: request.generateAudio ? clips : undefined,
    videoFile: join(stage.folder, 'video.mp4'),
    lastFrameFile: request.returnLastFrame ? join(stage.folder, 'last-frame.png') : undefined,
  };
}

async function fetchInputs(request: GenerationRequest, tools: RenderTools): Promise<Inputs> {
  const { ffmpeg, media, signal, workFolder } = tools;
  const pictures = request.images.map(async ({ url, role }, at): Promise<Picture> => {
    const label = `Image ${at + 1} (${role})`;
    const { path } = await media.fetch(url, 'image', tools);
    return { path, label, size: await inspectPicture(path, label) };
  });
  const videos = request.videos.map(async (url, at) => {
    const file = await media.fetch(url, 'video', tools);
    return openVideo(file, `Video ${at + 1}`, ffmpeg, signal);
  });
  const audios = request.audios.map(async (url, at) => {
    const file = await media.fetch(url, 'audio', tools);
    const copy = join(workFolder, `sound-${at}.wav`);
    return openAudio(file, `Audio ${at + 1}`, ffmpeg, signal, copy);
  });
  // Waits for all downloads. Otherwise a second rejection would stay unhandled.
  const settled = await Promise.allSettled([...pictures, ...videos, ...audios]);
  const fault = settled.find((outcome) => outcome.status === 'rejected');
  if (fault) throw fault.reason;
  const inputs = {
    pictures: await Promise.all(pictures),
    videos: await Promise.all(videos),
    audios: await Promise.all(audios),
  };
  for (const [at, clip] of inputs.videos.entries()) checkPicture(`Video ${at + 1}`, clip);
  checkLengths('Video', inputs.videos);
  checkLengths('Audio', inputs.audios);
  return inputs;
}

/** Checks the size of a video. A video that ffmpeg must not open is not checked. */
function checkPicture(label: string, { input, width, height }: Clip): void {
  if (!input) return;
  const { min, max } = VIDEO_PIXELS;
  if (width * height < min || width * height > max) {
    throw new MediaFault(`${label} is ${width}×${height}; ${min} to ${max} pixels are allowed.`);
  }
}

/**
 * Each clip may be 2 to 15 seconds long, and all clips together at most 15 seconds. Containers
 * round the length, so a deviation of 0.1 s is allowed.
 */
function checkLengths(kind: string, clips: Clip[]): void {
  const grace = 0.1;
  for (const [at, { seconds }] of clips.entries()) {
    if (seconds >= 2 - grace && seconds <= 15 + grace) continue;
    const length = seconds.toFixed(1);
    throw new MediaFault(`${kind} ${at + 1} is ${length} s long; 2 to 15 s are allowed.`);
  }
  const total = clips.reduce((sum, clip) => sum + clip.seconds, 0);
  if (total > 15 + grace) {
    throw new MediaFault(
      `The ${kind.toLowerCase()}s are ${total.toFixed(1)} s long together; at most 15 s.`,
    );
  }
}

function composedSize(size: Size): Size {
  if (size.width * size.height <= COMPOSED_PIXELS_MAX) return size;
  return { width: even(size.width / 2), height: even(size.height / 2) };
}
