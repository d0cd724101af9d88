// Reads the length and the size of a video from an MP4 or MOV file while its bytes pass through.
// Both are in the boxes `moov/mvhd` and `moov/trak/tkhd`. Other boxes are skipped by their sizes.

import type { Size } from './catalogue';

interface VideoHead {
  read(chunk: Uint8Array): void;
  /** The length; null if the file does not contain it, for example a fragmented file. */
  milliseconds(): number | null;
  /** The size in pixels of the first track that has a size; null if no track has a size. */
  size(): Size | null;
}

interface Box {
  readonly name: string;
  /** The size includes the head of the box. 0 means that the box reaches to the end of the file. */
  readonly size: number;
  readonly headBytes: number;
}

const contentBytes: Readonly<Record<string, number>> = { mvhd: 32, tkhd: 96 };
const parents = ['moov', 'trak'];
// Real files have some dozens of boxes before both values are known. Without a limit, a file of
// empty boxes would cost seconds of the processor.
const boxesMax = 1_000;

export function createVideoHead(): VideoHead {
  let skip = 0;
  let kept: Uint8Array = new Uint8Array(0);
  let isOver = false;
  let boxes = 0;
  let length: number | null | undefined;
  let size: Size | null = null;

  /**
   * Takes the box at the start of `kept`. Returns false if more bytes are needed, or if nothing is
   * left to find.
   */
  const takeBox = (): boolean => {
    const box = boxAt(kept);
    if (!box) return false;
    const needed = box.headBytes + (contentBytes[box.name] ?? 0);
    if (kept.length < Math.min(needed, box.size)) return false;
    const content = kept.subarray(box.headBytes, box.size);
    if (box.name === 'mvhd') length = lengthOf(content);
    if (box.name === 'tkhd') size ??= sizeOf(content);
    boxes += 1;
    const isComplete = length !== undefined && size !== null;
    isOver = isComplete || box.size < box.headBytes || boxes === boxesMax;
    skip = parents.includes(box.name) ? box.headBytes : box.size;
    return !isOver;
  };

  return {
    read(chunk) {
      if (isOver) return;
      const passed = Math.min(skip, chunk.length);
      skip -= passed;
      kept = joined(kept, chunk.subarray(passed));
      while (takeBox()) {
        const over = Math.min(skip, kept.length);
        kept = kept.subarray(over);
        skip -= over;
        if (skip > 0) return;
      }
    },
    milliseconds: () => length ?? null,
    size: () => size,
  };
}

function boxAt(bytes: Uint8Array): Box | null {
  if (bytes.length < 8) return null;
  const name = String.fromCharCode(...bytes.subarray(4, 8));
  const size = u32(bytes, 0);
  if (size !== 1) return { name, size, headBytes: 8 };
  return bytes.length < 16 ? null : { name, size: u64(bytes, 8), headBytes: 16 };
}

/** Reads the content of a `mvhd` box: its version, two times, the time scale and the duration. */
function lengthOf(head: Uint8Array): number | null {
  if (head.length < 32) return null;
  const isLong = head[0] === 1;
  const scale = u32(head, isLong ? 20 : 12);
  const duration = isLong ? u64(head, 24) : u32(head, 16);
  const isUnknown = scale === 0 || duration === 0 || (!isLong && duration === 0xffff_ffff);
  const milliseconds = isUnknown ? 0 : Math.ceil((duration / scale) * 1000);
  // A length of more than a day counts as unknown, because no generator takes such a video.
  return milliseconds > 0 && milliseconds <= 86_400_000 ? milliseconds : null;
}

/**
 * The last two fields of a `tkhd` box are width and height in 65536ths of a pixel. They are zero
 * for a sound track.
 */
function sizeOf(head: Uint8Array): Size | null {
  const at = head[0] === 1 ? 88 : 76;
  if (head.length < at + 8) return null;
  const width = Math.round(u32(head, at) / 65_536);
  const height = Math.round(u32(head, at + 4) / 65_536);
  return width > 0 && height > 0 ? { width, height } : null;
}

function u32(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
}

function u64(bytes: Uint8Array, at: number): number {
  return u32(bytes, at) * 2 ** 32 + u32(bytes, at + 4);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
