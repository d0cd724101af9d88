/*
 * WAV in and out, without ffmpeg: PCM is simple enough to read here, which spares an old decoder
 * the sight of strangers' files, and the studio's own sample sound is written with it.
 */

import { MediaFault } from './media';

interface Pcm {
  rate: number;
  /** Mono, -1 to 1. */
  samples: Float32Array;
}

interface Format {
  code: number;
  channels: number;
  rate: number;
  bits: number;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

export function readWav(bytes: Buffer, label: string): Pcm {
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + 8;
    if (name === 'fmt ' && start + 16 <= bytes.length) format = readFormat(bytes, start, length);
    if (name === 'data' && format) {
      const end = Math.min(start + length, bytes.length);
      return { rate: format.rate, samples: mix(bytes.subarray(start, end), format, label) };
    }
    at = start + length + (length % 2);
  }
  throw new MediaFault(`${label} is not a complete WAV file.`);
}

export function writeWav({ rate, samples }: Pcm): Buffer {
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(36 + samples.length * 2, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(PCM, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, at) => {
    const clipped = Math.max(-1, Math.min(1, sample));
    bytes.writeInt16LE(Math.round(clipped * 32_767), 44 + at * 2);
  });
  return bytes;
}

function readFormat(bytes: Buffer, start: number, length: number): Format {
  const code = bytes.readUInt16LE(start);
  const isExtended = code === EXTENSIBLE && length >= 26 && start + 26 <= bytes.length;
  return {
    code: isExtended ? bytes.readUInt16LE(start + 24) : code,
    channels: bytes.readUInt16LE(start + 2),
    rate: bytes.readUInt32LE(start + 4),
    bits: bytes.readUInt16LE(start + 14),
  };
}

function mix(data: Buffer, { code, channels, rate, bits }: Format, label: string): Float32Array {
  const read = reader(data, code, bits);
  if (!read || channels < 1 || channels > 16 || rate < 4000 || rate > 384_000) {
    throw new MediaFault(`${label} is a WAV file of a kind that is not read here; send PCM.`);
  }
  const width = bits / 8;
  const count = Math.floor(data.length / (width * channels));
  const samples = new Float32Array(count);
  for (let at = 0; at < count; at += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += read((at * channels + channel) * width);
    }
    samples[at] = sum / channels;
  }
  return samples;
}

function reader(data: Buffer, code: number, bits: number): ((at: number) => number) | undefined {
  if (code === FLOAT && bits === 32) return (at) => data.readFloatLE(at);
  if (code !== PCM) return undefined;
  if (bits === 8) return (at) => (data.readUInt8(at) - 128) / 128;
  if (bits === 16) return (at) => data.readInt16LE(at) / 32_768;
  if (bits === 24) return (at) => data.readIntLE(at, 3) / 8_388_608;
  if (bits === 32) return (at) => data.readInt32LE(at) / 2_147_483_648;
  return undefined;
}
