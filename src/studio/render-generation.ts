/*
 * Makes the video of one generation: media in, checked against the protocol's limits, a film laid
 * out, ffmpeg run once. Nothing is left in the results' folder unless everything went well.
 */

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clip } from './clips';
import { openAudio, openVideo } from './clips';
import type { Ffmpeg } from './ffmpeg';
import { runFfmpeg } from './ffmpeg';
import type { Film, Sound } from './film';
import { filmArguments } from './film';
import type { Picture, Stage } from './generation-film';
import { cardLayers, sceneLayers, stillLayers } from './generation-film';
import type { GenerationJob, GenerationOrder, JobResult } from './jobs';
import type { MediaStore } from './media';
import { MediaFault } from './media';
import type { Size } from './models';
import { even } from './models';
import { inspectPicture } from './pictures';
import { pickSeconds, plannedSize } from './plan';
import { designScene } from './scene';
import { draftLayers, titleLayers, watermarkLayers } from './title-layers';

export interface RenderTools {
  ffmpeg: Ffmpeg;
  media: MediaStore;
  signal: AbortSignal;
  /** Thrown away when the job is over. */
  workFolder: string;
  resultFolder: string;
}

const FPS = 24;

/** Fifteen seconds of 4k take two minutes on a small machine; this is for the ones that hang. */
const RENDER_MS = 600_000;

/** Beyond full HD the film is composed at half its size and enlarged: nobody sees it, time does. */
const COMPOSED_PIXELS_MAX = 2_200_000;

/** The protocol's own limits for a reference video. */
const VIDEO_PIXELS = { min: 409_600, max: 2_086_876 };
const VIDEO_FPS = { min: 24, max: 60 };

interface Cast {
  pictures: Picture[];
  videos: Clip[];
  audios: Clip[];
}

export async function renderGeneration(job: GenerationJob, tools: RenderTools): Promise<JobResult> {
  const { order } = job;
  const cast = await gather(order, tools);
  const size = plannedSize(order, cast.pictures[0]?.size);
  const frames = order.frames ?? pickSeconds(order) * FPS;
  const stage: Stage = {
    canvas: composedSize(size),
    fps: FPS,
    frames,
    seconds: frames / FPS,
    folder: tools.workFolder,
  };
  const film = await layOut(order, cast, stage, size);
  await runFfmpeg(tools.ffmpeg, {
    args: filmArguments(film),
    timeoutMs: RENDER_MS,
    signal: tools.signal,
  });
  await mkdir(tools.resultFolder, { recursive: true });
  await rename(film.videoFile, join(tools.resultFolder, 'video.mp4'));
  if (film.lastFrameFile !== undefined) {
    await rename(film.lastFrameFile, join(tools.resultFolder, 'last-frame.png'));
  }
  return {
    ...size,
    fps: FPS,
    durationSeconds: frames / FPS,
    inputVideoSeconds: cast.videos.reduce((sum, clip) => sum + clip.seconds, 0),
    hasLastFrame: film.lastFrameFile !== undefined,
  };
}

async function layOut(order: GenerationOrder, cast: Cast, stage: Stage, size: Size): Promise<Film> {
  const scene = designScene(order.prompt, order.seed);
  const isStills = order.images.some((image) => image.role !== 'reference_image');
  const cards = isStills ? cast.videos : [...cast.pictures, ...cast.videos];
  const layers = isStills
    ? await stillLayers(cast.pictures, stage)
    : await sceneLayers(scene, stage);
  layers.push(...(await cardLayers(cards, stage)));
  layers.push(...(await titleLayers(order, stage)));
  return {
    canvas: stage.canvas,
    size,
    fps: stage.fps,
    frames: stage.frames,
    background: scene.skyBottom.replace('#', '0x'),
    layers,
    finish: order.draft ? ['hue=s=0.25', 'eq=contrast=0.9'] : [],
    overlays: [...(await draftLayers(order, stage)), ...(await watermarkLayers(order, stage))],
    sound: order.generateAudio ? soundOf(cast, scene.chord) : undefined,
    videoFile: join(stage.folder, 'video.mp4'),
    lastFrameFile: order.returnLastFrame ? join(stage.folder, 'last-frame.png') : undefined,
  };
}

/** Reference sounds are the film's sound, one after another; else a chord that suits the scene. */
function soundOf(cast: Cast, chord: number[]): Sound {
  const clips = cast.audios.flatMap((clip) => (clip.input ? [clip.input] : []));
  return clips.length > 0 ? { clips } : { chord };
}

async function gather(order: GenerationOrder, tools: RenderTools): Promise<Cast> {
  const { ffmpeg, media, signal, workFolder } = tools;
  const pictures = order.images.map(async ({ url, role }, at): Promise<Picture> => {
    const label = `Image ${at + 1} (${role})`;
    const { path } = await media.fetch(url, 'image', workFolder);
    return { path, label, size: await inspectPicture(path, label) };
  });
  const videos = order.videos.map(async (url, at) => {
    const file = await media.fetch(url, 'video', workFolder);
    return openVideo(file, `Video ${at + 1}`, ffmpeg, signal);
  });
  const audios = order.audios.map(async (url, at) => {
    const file = await media.fetch(url, 'audio', workFolder);
    const copy = join(workFolder, `sound-${at}.wav`);
    return openAudio(file, `Audio ${at + 1}`, ffmpeg, signal, copy);
  });
  // One fault is enough to end the job, but no other download may be left without a listener.
  const settled = await Promise.allSettled([...pictures, ...videos, ...audios]);
  const fault = settled.find((outcome) => outcome.status === 'rejected');
  if (fault) throw fault.reason;
  const cast = {
    pictures: await Promise.all(pictures),
    videos: await Promise.all(videos),
    audios: await Promise.all(audios),
  };
  for (const [at, clip] of cast.videos.entries()) checkPicture(`Video ${at + 1}`, clip);
  checkLengths('Video', cast.videos);
  checkLengths('Audio', cast.audios);
  return cast;
}

/** What may be looked into must be of a usual size and rate; a card stands for the others. */
function checkPicture(label: string, { input, width, height, fps }: Clip): void {
  if (!input) return;
  const { min, max } = VIDEO_PIXELS;
  if (width * height < min || width * height > max) {
    throw new MediaFault(`${label} is ${width}×${height}; ${min} to ${max} pixels are allowed.`);
  }
  // 23.976 is called 24 everywhere else.
  if (fps < VIDEO_FPS.min - 0.1 || fps > VIDEO_FPS.max) {
    const range = `${VIDEO_FPS.min} to ${VIDEO_FPS.max}`;
    throw new MediaFault(`${label} has ${fps} frames a second; ${range} are allowed.`);
  }
}

/** Each clip 2 to 15 seconds, and 15 together; a frame's grace, since containers round. */
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
