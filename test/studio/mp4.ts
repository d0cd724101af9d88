// Reads the boxes, single pictures and the sound of an mp4 file. The boxes are parsed here,
// independently of the encoder that wrote them. Pictures and sound are decoded by ffmpeg.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';

const ffmpeg: { path: string } = require('@ffmpeg-installer/ffmpeg');
const run = promisify(execFile);

interface Box {
  readonly name: string;
  readonly body: Buffer;
}

interface Track {
  readonly codec: string;
  readonly seconds: number;
  readonly samples: number;
  readonly width: number;
  readonly height: number;
}

export interface Movie {
  /**
   * The top-level boxes in order. With `moov` before `mdat` a video can be played while it loads.
   */
  readonly boxes: readonly string[];
  readonly video: Track;
  readonly audio: Track | undefined;
  readonly framesPerSecond: number;
}

export function readMovie(file: Buffer): Movie {
  const top = boxesIn(file);
  const tracks = boxesIn(inside(file, 'moov')).filter(({ name }) => name === 'trak');
  const of = (kind: string) =>
    tracks.find(({ body }) => inside(body, 'mdia', 'hdlr').toString('latin1', 8, 12) === kind);
  const [video, audio] = [of('vide'), of('soun')];
  if (!video) throw new Error('There is no picture.');
  const picture = readTrack(video.body);
  return {
    boxes: top.map(({ name }) => name).filter((name) => name !== 'free'),
    video: picture,
    audio: audio && readTrack(audio.body),
    framesPerSecond: Math.round((picture.samples / picture.seconds) * 1000) / 1000,
  };
}

/** Returns one frame as a PNG. */
export async function frameOf(path: string, frame: number): Promise<Buffer> {
  const filter = `select='eq(n,${frame})'`;
  const { stdout } = await run(
    ffmpeg.path,
    [
      ...['-loglevel', 'error', '-i', path, '-vf', filter, '-frames:v', '1'],
      ...['-f', 'image2pipe', '-c:v', 'png', '-'],
    ],
    { encoding: 'buffer', maxBuffer: 100_000_000 },
  );
  return stdout;
}

/** Returns raw RGB of 48 × 27 pixels, which is enough to compare what pictures show. */
export async function smallPicture(picture: Buffer): Promise<Buffer> {
  const size = { width: 48, height: 27, fit: 'fill' } as const;
  return sharp(picture).removeAlpha().toColourspace('srgb').resize(size).raw().toBuffer();
}

/** Returns the mean difference of two pictures, 0 to 255. */
export function distance(one: Buffer, other: Buffer): number {
  if (one.length !== other.length) throw new Error('They are not of one size.');
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? 0)), 0) / one.length;
}

/** Returns the sound as mono samples from -1 to 1, 8000 per second. */
export async function soundOf(path: string): Promise<Float32Array> {
  const { stdout } = await run(
    ffmpeg.path,
    ['-loglevel', 'error', '-i', path, '-ac', '1', '-ar', '8000', '-f', 'f32le', '-'],
    { encoding: 'buffer', maxBuffer: 10_000_000 },
  );
  return Float32Array.from({ length: stdout.length / 4 }, (_, at) => stdout.readFloatLE(at * 4));
}

/**
 * Returns the similarity of two sounds, 0 to 1. A shift of up to 40 ms by the encoder is allowed.
 */
export function correlation(one: Float32Array, other: Float32Array): number {
  const length = Math.min(one.length, other.length) - 2 * shiftMax;
  const energy = (sound: Float32Array, from: number) =>
    sound.subarray(from, from + length).reduce((sum, value) => sum + value * value, 0);
  let best = 0;
  for (let shift = 0; shift <= 2 * shiftMax; shift += 1) {
    let sum = 0;
    for (let at = 0; at < length; at += 1) sum += one[at + shift]! * other[at + shiftMax]!;
    best = Math.max(best, sum / Math.sqrt(energy(one, shift) * energy(other, shiftMax)));
  }
  return best;
}

/** 40 ms at 8000 samples per second. */
const shiftMax = 320;

function readTrack(track: Buffer): Track {
  const head = inside(track, 'mdia', 'mdhd');
  const isLong = head[0] === 1;
  const scale = head.readUInt32BE(isLong ? 20 : 12);
  const length = isLong ? Number(head.readBigUInt64BE(24)) : head.readUInt32BE(16);
  const table = inside(track, 'mdia', 'minf', 'stbl');
  const entry = boxesIn(inside(table, 'stsd').subarray(8))[0];
  if (!entry) throw new Error('A track says nothing about its coding.');
  const isPicture = inside(track, 'mdia', 'hdlr').toString('latin1', 8, 12) === 'vide';
  return {
    codec: entry.name,
    seconds: length / scale,
    samples: inside(table, 'stsz').readUInt32BE(8),
    width: isPicture ? entry.body.readUInt16BE(24) : 0,
    height: isPicture ? entry.body.readUInt16BE(26) : 0,
  };
}

function inside(bytes: Buffer, ...path: string[]): Buffer {
  return path.reduce((within, wanted) => {
    const found = boxesIn(within).find(({ name }) => name === wanted);
    if (!found) throw new Error(`There is no ${wanted}.`);
    return found.body;
  }, bytes);
}

function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at) || bytes.length - at;
    if (length < 8) throw new Error('A box has no length.');
    const name = bytes.toString('latin1', at + 4, at + 8);
    boxes.push({ name, body: bytes.subarray(at + 8, at + length) });
    at += length;
  }
  return boxes;
}
