// Reads the length and the size of a video from an MP4 or MOV file while its bytes pass through. The
// length is that of the movie header, or of an edit list that plays longer. The bytes come from a provider or a caller, who may write any
// figure there, so no length raises a charge or lowers a hold. Only the heads of boxes are read.

import type { Size } from '../catalogue/catalogue.rules';

interface VideoHead {
  read(chunk: Uint8Array): void;
  /** True if the file ends before the end of its movie or of its media. */
  isCut(): boolean;
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

/** The bytes of a box that are read, after its head. An edit list of 64 KB has thousands of cuts. */
const contentBytes: Readonly<Record<string, number>> = { mvhd: 32, tkhd: 96, elst: 65_536 };
const parents = ['moov', 'trak', 'edts'];
// The boxes that make a video. Bytes of others may follow them.
const needed = ['moov', 'moof', 'mdat'];
// Real files have some dozens of boxes. Without a limit, a file of empty boxes would cost seconds
// of the processor.
const boxesMax = 1_000;

export function createVideoHead(): VideoHead {
  let movie: Times | null = null;
  let longestEdits = 0;
  let size: Size | null = null;
  let at = 0;
  let skip = 0;
  let kept: Uint8Array = new Uint8Array(0);
  let isOver = false;
  let boxes = 0;
  let last = '';
  const seen = new Set<string>();
  /** Where the open parents of the next box end. */
  let ends: number[] = [];

  /** Skips the bytes that belong to the last box, and returns the others. */
  const pass = (bytes: Uint8Array): Uint8Array => {
    const passed = Math.min(skip, bytes.length);
    skip -= passed;
    at += passed;
    return bytes.subarray(passed);
  };

  /**
   * Takes the box at the start of `kept`. Returns false if more bytes are needed, or if nothing is
   * left to find.
   */
  const takeBox = (): boolean => {
    const box = boxAt(kept);
    if (!box) return false;
    const wanted = Math.min(box.headBytes + (contentBytes[box.name] ?? 0), box.size);
    if (kept.length < wanted) return false;
    last = box.name;
    seen.add(last);
    ends = ends.filter((end) => end > at);
    const content = kept.subarray(box.headBytes, wanted);
    if (last === 'mvhd') movie ??= timesOf(content);
    if (last === 'elst') longestEdits = Math.max(longestEdits, sumOfEdits(content));
    if (last === 'tkhd') size ??= sizeOf(content);
    boxes += 1;
    const isFaulty = box.size < box.headBytes || ends.some((end) => at + box.size > end);
    isOver = isFaulty || boxes === boxesMax;
    const isParent = parents.includes(last);
    if (isParent) ends.push(at + box.size);
    skip = isParent ? box.headBytes : box.size;
    return !isOver;
  };

  return {
    read(chunk) {
      if (isOver) return;
      kept = joined(kept, pass(chunk));
      while (takeBox()) {
        kept = pass(kept);
        if (skip > 0) return;
      }
    },
    isCut() {
      if (isOver) return false;
      const isOpen = (skip > 0 && needed.includes(last)) || ends.some((end) => end > at);
      return isOpen || !seen.has('moov') || !seen.has('mdat');
    },
    milliseconds: () => movie && lengthOf(movie, longestEdits),
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

interface Times {
  readonly scale: number;
  readonly duration: number;
}

/** The time scale and the duration of a movie header; null if it has no known duration. */
function timesOf(head: Uint8Array): Times | null {
  const isLong = head[0] === 1;
  if (head.length < (isLong ? 32 : 20)) return null;
  const [scale, duration] = isLong
    ? [u32(head, 20), u64(head, 24)]
    : [u32(head, 12), u32(head, 16)];
  return scale > 0 && duration > 0 && duration !== 0xffff_ffff ? { scale, duration } : null;
}

/**
 * The sum of an edit list, in the time scale of the movie header. An empty edit counts, because the
 * movie plays on without a picture. A list that is not complete counts as none.
 */
function sumOfEdits(list: Uint8Array): number {
  const isLong = list[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  const end = list.length < 8 ? Number.NaN : 8 + u32(list, 4) * entryBytes;
  if (!(end <= list.length)) return 0;
  let sum = 0;
  for (let at = 8; at < end; at += entryBytes) sum += isLong ? u64(list, at) : u32(list, at);
  return sum;
}

/** A length of more than a day counts as unknown, because no generator makes such a video. */
function lengthOf({ scale, duration }: Times, longestEdits: number): number | null {
  const ms = Math.ceil((Math.max(duration, longestEdits) / scale) * 1_000);
  return ms <= 86_400_000 ? ms : null;
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
