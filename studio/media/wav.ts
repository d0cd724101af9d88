/*
 * Extracts the samples of a WAV file. An old ffmpeg reads only these raw samples, so it never
 * parses a file of a caller.
 */

import { MediaFault } from './media-store';

interface Pcm {
  /** The arguments with which ffmpeg reads raw samples in this format. */
  format: string[];
  data: Buffer;
  seconds: number;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/**
 * The name in ffmpeg of each accepted sample format. A key is the WAV format code and the bits per
 * sample.
 */
const FORMATS: Record<string, string> = {
  [`${PCM}/8`]: 'u8',
  [`${PCM}/16`]: 's16le',
  [`${PCM}/24`]: 's24le',
  [`${PCM}/32`]: 's32le',
  [`${FLOAT}/32`]: 'f32le',
};

export function readWav(bytes: Buffer, label: string): Pcm {
  let head: Buffer | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'fmt ' && body.length >= 16) head = body;
    if (name === 'data' && head) return describe(head, body, label);
    at += 8 + length + (length % 2);
  }
  throw new MediaFault(`${label} is not a complete WAV file.`);
}

function describe(head: Buffer, data: Buffer, label: string): Pcm {
  const stated = head.readUInt16LE(0);
  const code = stated === EXTENSIBLE && head.length >= 26 ? head.readUInt16LE(24) : stated;
  const [channels, rate, bits] = [
    head.readUInt16LE(2),
    head.readUInt32LE(4),
    head.readUInt16LE(14),
  ];
  const format = FORMATS[`${code}/${bits}`];
  if (!format || channels < 1 || channels > 8 || rate < 4000 || rate > 384_000) {
    throw new MediaFault(`${label} is a WAV file of a kind that is not read here; send PCM.`);
  }
  return {
    format: ['-f', format, '-ar', String(rate), '-ac', String(channels)],
    data,
    seconds: data.length / ((bits / 8) * channels * rate),
  };
}
