/*
 * The video of a job that is not rendered: one second of pictures from studio/assets, repeated until
 * the video is as long as its job. The copies share their bytes, so a file of any length is small.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The asset has one track, no frame that depends on a later one, and one chunk. */
const asset = join(__dirname, '..', 'assets', 'placeholder.mp4');
const FPS = 24;
/** The time scales of the movie header, and of the track, in one second and in one frame. */
const MOVIE_SCALE = 1_000;
const FRAME_TICKS = 512;

/** Returns the path of the placeholder of this length, which is written at its first use. */
export function placeholderVideo(folder: string, seconds: number): string {
  const frames = Math.max(1, Math.round(seconds * FPS));
  const path = join(folder, `${frames}.mp4`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.draft`, withFrames(frames));
  renameSync(`${path}.draft`, path);
  return path;
}

function withFrames(frames: number): Buffer {
  const bytes = readFileSync(asset);
  const build = (shift: number) => rewritten(bytes, changesFor(frames, shift));
  // The tables grow, and move the pictures behind them.
  return build(build(0).length - bytes.length);
}

type Changes = Readonly<Record<string, (body: Buffer) => Buffer>>;

function changesFor(frames: number, shift: number): Changes {
  const length = Math.ceil((frames * MOVIE_SCALE) / FPS);
  const copies = Math.ceil(frames / FPS);
  const copy = Array.from({ length: copies }, (_, n) => n);
  const rest = frames - (copies - 1) * FPS;
  return {
    mvhd: (body) => withNumber(body, 16, length),
    tkhd: (body) => withNumber(body, 20, length),
    elst: (body) => withNumber(body, 8, length),
    mdhd: (body) => withNumber(body, 16, frames * FRAME_TICKS),
    stts: (body) => withNumber(body, 8, frames),
    stss: () => table(copies, ...copy.map((n) => n * FPS + 1)),
    stsc: () => (copies === 1 ? table(1, 1, rest, 1) : table(2, 1, FPS, 1, copies, rest, 1)),
    stsz: (body) => {
      const sizeOf = (n: number) => body.readUInt32BE(12 + (n % FPS) * 4);
      return table(0, frames, ...Array.from({ length: frames }, (_, n) => sizeOf(n)));
    },
    stco: (body) => table(copies, ...copy.map(() => body.readUInt32BE(8) + shift)),
  };
}

const parents = ['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl'];

/** Copies all boxes, and gives those that have a change another content. */
function rewritten(bytes: Buffer, changes: Changes): Buffer {
  const boxes: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + bytes.readUInt32BE(at));
    const content = parents.includes(name)
      ? rewritten(body, changes)
      : (changes[name]?.(body) ?? body);
    boxes.push(table(content.length + 8).subarray(4), Buffer.from(name), content);
  }
  return Buffer.concat(boxes);
}

function withNumber(body: Buffer, at: number, value: number): Buffer {
  const changed = Buffer.from(body);
  changed.writeUInt32BE(value, at);
  return changed;
}

/** The content of a table: version and flags, which are zero, and numbers of 32 bits. */
function table(...numbers: readonly number[]): Buffer {
  const content = Buffer.alloc(4 + numbers.length * 4);
  for (const [n, value] of numbers.entries()) content.writeUInt32BE(value, 4 + n * 4);
  return content;
}
