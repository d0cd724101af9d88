// Reads the length and the size of a video from an MP4 or MOV file while its bytes pass through.
// The hold of money depends on the length, so a forged movie header must not make a video shorter
// than it is: the length is the largest of the movie header, the track headers, and the sums of the
// sample tables and of the edit lists. An edit list may play the same samples several times. A file
// that this reader cannot read to the end of its tables has no length.

import type { Size } from './catalogue';

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

// A table of sample times with 64 KB is one of a video with 8,000 changes of its frame rate. An edit
// list with 64 KB has more than 3,000 cuts.
const tableBytesMax = 65_536;
const contentBytes: Readonly<Record<string, number>> = {
  mvhd: 32,
  tkhd: 96,
  mdhd: 32,
  stts: tableBytesMax,
  elst: tableBytesMax,
  stsz: 12,
  stz2: 12,
};
const parents = ['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl'];
// Players skip these boxes. They look for tables in nearly all others. A `uuid` box may name tables
// in its text, for example as the parts of the file that a signature leaves out.
const opaque = ['mdat', 'free', 'skip', 'wide', 'uuid'];
// In a box that this reader skips, these names hide a length, or mean that the samples are not in
// the tables.
const hiding = new Set(
  ['mvhd', 'mdhd', 'stts', 'stsz', 'stz2', 'elst', 'cmov', 'moof', 'trun'].map(wordOf),
);
const searchedBytesMax = 16_000_000;
// The boxes that make a video. Bytes of others may follow them.
const needed = ['moov', 'moof', 'mdat'];
// Real files have some dozens of boxes. Without a limit, a file of empty boxes would cost seconds
// of the processor.
const boxesMax = 1_000;

export function createVideoHead(): VideoHead {
  const facts = createFacts();
  const search = createSearch();
  let at = 0;
  let skip = 0;
  let isSearched = false;
  let kept: Uint8Array = new Uint8Array(0);
  let isOver = false;
  let boxes = 0;
  let last = '';
  const seen = new Set<string>();
  /** Where the open parents of the next box end. */
  let ends: number[] = [];

  /** Skips the bytes that belong to the last box, and returns the others. */
  const pass = (bytes: Uint8Array): Uint8Array => {
    const passed = bytes.subarray(0, Math.min(skip, bytes.length));
    if (isSearched) facts.isUnknown ||= search(passed);
    skip -= passed.length;
    at += passed.length;
    return bytes.subarray(passed.length);
  };

  /**
   * Takes the box at the start of `kept`. Returns false if more bytes are needed, or if nothing is
   * left to find.
   */
  const takeBox = (): boolean => {
    const box = boxAt(kept);
    if (!box) return false;
    const wanted = box.headBytes + (contentBytes[box.name] ?? 0);
    if (kept.length < Math.min(wanted, box.size)) return false;
    last = box.name;
    seen.add(last);
    ends = ends.filter((end) => end > at);
    facts.take(box.name, kept.subarray(box.headBytes, Math.min(wanted, box.size)));
    boxes += 1;
    const reachesToEnd = box.size === 0 && box.name === 'mdat';
    const isFaulty = box.size < box.headBytes || ends.some((end) => at + box.size > end);
    isOver = isFaulty || boxes === boxesMax;
    if (isOver && !reachesToEnd) facts.isUnknown = true;
    const isParent = parents.includes(box.name);
    if (isParent) ends.push(at + box.size);
    skip = isParent ? box.headBytes : box.size;
    isSearched = !(isParent || box.name in contentBytes || opaque.includes(box.name));
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
    milliseconds: () => (ends.some((end) => end > at) ? null : facts.milliseconds()),
    size: () => facts.size,
  };
}

/** Returns a function that says if the next bytes hide a length, or are too many to be searched. */
function createSearch(): (bytes: Uint8Array) => boolean {
  let word = 0;
  let left = searchedBytesMax;
  return (bytes) => {
    left -= bytes.length;
    if (left < 0) return true;
    return bytes.some((byte) => {
      word = (word << 8) | byte;
      return hiding.has(word);
    });
  };
}

/** What the boxes tell about the video. */
function createFacts() {
  /** The time scale of the movie header; 0 if the header has not come. */
  let movieScale = 0;
  let trackScale = 0;
  /** The number of samples of the track, and the number of those that have a time. */
  let [sized, timed] = [0, 0];
  let length = 0;
  const add = (duration: number, scale: number): void => {
    if (duration > 0) length = Math.max(length, Math.ceil((duration / scale) * 1_000));
  };
  const endTrack = (): void => {
    // A player gives samples without a time the time of the last sample.
    if (!(sized <= timed)) facts.isUnknown = true;
    [sized, timed] = [0, 0];
  };
  const facts = {
    isUnknown: false,
    size: null as Size | null,
    take(name: string, content: Uint8Array): void {
      if (name === 'tkhd') facts.size ??= sizeOf(content);
      if (name === 'mvhd' || name === 'mdhd') {
        const { scale, duration } = timesOf(content);
        const isMovie = name === 'mvhd';
        // A second movie header could give the edit lists another time scale.
        if (isMovie && (scale === 0 || duration === 0 || movieScale > 0)) facts.isUnknown = true;
        if (isMovie) movieScale = scale;
        endTrack();
        trackScale = scale;
        add(duration, scale);
      }
      if (name === 'stts') {
        const times = sumOf(content);
        if (times === null) facts.isUnknown = true;
        else add(times.duration, trackScale);
        timed += times?.samples ?? 0;
      }
      if (name === 'elst') {
        const duration = sumOfEdits(content);
        if (duration === null || movieScale === 0) facts.isUnknown = true;
        else add(duration, movieScale);
      }
      if (name === 'stsz' || name === 'stz2') sized += countOf(content);
    },
    milliseconds(): number | null {
      endTrack();
      // A length of more than a day counts as unknown, because no generator takes such a video.
      const isKnown = movieScale > 0 && !facts.isUnknown && length > 0 && length <= 86_400_000;
      return isKnown ? length : null;
    },
  };
  return facts;
}

function boxAt(bytes: Uint8Array): Box | null {
  if (bytes.length < 8) return null;
  const name = String.fromCharCode(...bytes.subarray(4, 8));
  const size = u32(bytes, 0);
  if (size !== 1) return { name, size, headBytes: 8 };
  return bytes.length < 16 ? null : { name, size: u64(bytes, 8), headBytes: 16 };
}

/**
 * Reads the head of a movie or of a track: its version, two times, the time scale and the duration.
 * An unknown duration counts as 0.
 */
function timesOf(head: Uint8Array): { readonly scale: number; readonly duration: number } {
  if (head.length < 32 && !(head.length >= 20 && head[0] === 0)) return { scale: 0, duration: 0 };
  const isLong = head[0] === 1;
  const duration = isLong ? u64(head, 24) : u32(head, 16);
  const isUnknown = !isLong && duration === 0xffff_ffff;
  return { scale: u32(head, isLong ? 20 : 12), duration: isUnknown ? 0 : duration };
}

/** The number of samples in a table of sample sizes. */
function countOf(table: Uint8Array): number {
  return table.length < 12 ? Number.NaN : u32(table, 8);
}

/** The sums of a table of sample times; null if the table is not complete. */
function sumOf(table: Uint8Array): { readonly samples: number; readonly duration: number } | null {
  const entries = table.length < 8 ? Number.NaN : u32(table, 4);
  if (!(8 + entries * 8 <= table.length)) return null;
  let samples = 0;
  let duration = 0;
  for (let n = 0; n < entries; n += 1) {
    const count = u32(table, 8 + n * 8);
    samples += count;
    duration += count * u32(table, 12 + n * 8);
  }
  return { samples, duration };
}

/**
 * The sum of the durations in an edit list; null if the list is not complete. An empty edit counts,
 * because the movie plays on without a picture.
 */
function sumOfEdits(list: Uint8Array): number | null {
  const entries = list.length < 8 ? Number.NaN : u32(list, 4);
  const isLong = list[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  if (!(8 + entries * entryBytes <= list.length)) return null;
  let sum = 0;
  for (let at = 8; at < 8 + entries * entryBytes; at += entryBytes) {
    sum += isLong ? u64(list, at) : u32(list, at);
  }
  return sum;
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

function wordOf(name: string): number {
  return [...name].reduce((word, letter) => (word << 8) | letter.charCodeAt(0), 0);
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
