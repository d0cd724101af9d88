/*
 * Opens videos and audio files that callers sent. The first bytes of a file decide its type; the
 * name is ignored. ffmpeg may use only the demuxer of this type and no network, so a disguised
 * playlist cannot load anything. The packaged ffmpeg is from 2018, so it opens only files that the
 * studio made. Without a newer ffmpeg, only the length of callers' videos is read, and callers'
 * audio must be WAV.
 */

import type { FileHandle } from 'node:fs/promises';
import { open, readFile, writeFile } from 'node:fs/promises';
import type { Ffmpeg } from './ffmpeg';
import { runFfmpeg } from './ffmpeg';
import type { MediaFile } from './media-store';
import { MediaFault } from './media-store';
import { readWav } from './wav';

type Demuxer = 'mov' | 'wav' | 'mp3';

export interface Clip {
  /** The input arguments for ffmpeg; undefined if ffmpeg is too old to open a file of a caller. */
  input: string[] | undefined;
  seconds: number;
  width: number;
  height: number;
  fps: number;
}

const PROBE_MS = 20_000;

export async function openVideo(
  file: MediaFile,
  label: string,
  ffmpeg: Ffmpeg,
  signal: AbortSignal,
): Promise<Clip> {
  if ((await sniff(file.path)) !== 'mov')
    throw new MediaFault(`${label} is not an mp4 or mov file.`);
  if (file.isFromStudio || ffmpeg.isModern) return probe(file.path, 'mov', label, ffmpeg, signal);
  const seconds = await readMovieSeconds(file.path);
  if (seconds === undefined) throw new MediaFault(`${label} is not a complete mp4 or mov file.`);
  return { input: undefined, seconds, width: 0, height: 0, fps: 24 };
}

export async function openAudio(
  file: MediaFile,
  label: string,
  ffmpeg: Ffmpeg,
  signal: AbortSignal,
  copyTo: string,
): Promise<Clip> {
  const kind = await sniff(file.path);
  if (kind !== 'wav' && kind !== 'mp3') throw new MediaFault(`${label} is not a wav or mp3 file.`);
  if (file.isFromStudio || ffmpeg.isModern) return probe(file.path, kind, label, ffmpeg, signal);
  if (kind === 'mp3') {
    const remedy = 'send WAV, or install ffmpeg 5 or newer';
    throw new MediaFault(
      `${label} is mp3, which the packaged ffmpeg is not trusted with; ${remedy}.`,
    );
  }
  const { format, data, seconds } = readWav(await readFile(file.path), label);
  await writeFile(copyTo, data);
  return { ...silentPicture, input: [...format, '-i', copyTo], seconds };
}

const silentPicture = { width: 0, height: 0, fps: 0 };

async function sniff(path: string): Promise<Demuxer | undefined> {
  const handle = await open(path);
  try {
    const head = Buffer.alloc(12);
    await handle.read(head, 0, 12, 0);
    const text = head.toString('latin1');
    if (text.slice(4, 8) === 'ftyp') return 'mov';
    if (text.startsWith('RIFF') && text.endsWith('WAVE')) return 'wav';
    const isFrame = head[0] === 0xff && (head[1]! & 0xe0) === 0xe0;
    return text.startsWith('ID3') || isFrame ? 'mp3' : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Decodes one frame to check the file. The length, size and frame rate are read from the text that
 * ffmpeg prints about the file.
 */
async function probe(
  path: string,
  demuxer: Demuxer,
  label: string,
  ffmpeg: Ffmpeg,
  signal: AbortSignal,
): Promise<Clip> {
  const input = clipInput(path, demuxer);
  const args = ['-loglevel', 'info', ...input, '-frames:v', '1', '-t', '0.1', '-f', 'null', '-'];
  const stderr = await runFfmpeg(ffmpeg, { args, timeoutMs: PROBE_MS, signal }).catch(() => {
    throw new MediaFault(`${label} could not be decoded.`);
  });
  const about = stderr.split('Stream mapping:')[0]!;
  const time = /Duration: (\d+):(\d+):([\d.]+)/.exec(about);
  const video = /Stream #0.*Video:.*?[ ,](\d{2,5})x(\d{2,5})/.exec(about);
  const fps = /Stream #0.*Video:.*?([\d.]+) fps/.exec(about);
  if (!time || (demuxer === 'mov' && !video)) {
    throw new MediaFault(`${label} holds no ${demuxer === 'mov' ? 'picture' : 'sound'}.`);
  }
  return {
    input,
    seconds: Number(time[1]) * 3600 + Number(time[2]) * 60 + Number(time[3]),
    width: Number(video?.[1] ?? 0),
    height: Number(video?.[2] ?? 0),
    fps: Number(fps?.[1] ?? 24),
  };
}

function clipInput(path: string, demuxer: Demuxer): string[] {
  return ['-protocol_whitelist', 'file', '-f', demuxer, '-i', path];
}

/** Reads the length from the mp4 header (`moov/mvhd`) without a decoder. */
async function readMovieSeconds(path: string): Promise<number | undefined> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const movie = await findBox(handle, 0, size, 'moov');
    const about = movie && (await findBox(handle, movie.start, movie.end, 'mvhd'));
    if (!about) return undefined;
    const bytes = Buffer.alloc(32);
    await handle.read(bytes, 0, 32, about.start);
    const isLong = bytes[0] === 1;
    const scale = bytes.readUInt32BE(isLong ? 20 : 12);
    const length = isLong ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
    return scale > 0 ? length / scale : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Finds a box of an mp4 file by its name. Returns undefined if no box has this name. Also returns
 * undefined if the file ends inside a box, because the download is then incomplete.
 */
async function findBox(handle: FileHandle, from: number, to: number, name: string) {
  const head = Buffer.alloc(16);
  let found: { start: number; end: number } | undefined;
  for (let at = from; at + 8 <= to; ) {
    await handle.read(head, 0, 16, at);
    const short = head.readUInt32BE(0);
    const isLong = short === 1;
    const length = isLong ? Number(head.readBigUInt64BE(8)) : short === 0 ? to - at : short;
    // A length below 8 is not a box: the rest of the file is padding.
    if (length < 8) break;
    if (at + length > to) return undefined;
    const isIt = head.toString('latin1', 4, 8) === name;
    if (isIt) found ??= { start: at + (isLong ? 16 : 8), end: at + length };
    at += length;
  }
  return found;
}
