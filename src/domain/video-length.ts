// The length of a video, read from the box `moov/mvhd` of an MP4 or MOV file while its bytes pass.
// Boxes are skipped by their sizes, so only the beginning of a box is kept.

interface VideoLength {
  read(chunk: Uint8Array): void;
  /** Null if the file does not contain it, as fragmented files do not. */
  milliseconds(): number | null;
}

interface Box {
  readonly name: string;
  /** Includes the head of the box. 0: the box reaches to the end of the file. */
  readonly size: number;
  readonly headBytes: number;
}

const movieHeadBytes = 32;

export function createVideoLength(): VideoLength {
  let skip = 0;
  let kept: Uint8Array = new Uint8Array(0);
  let isOver = false;
  let found: number | null = null;

  /** Reads the box at the start of `kept`. False if it is incomplete, or the last one. */
  const takeBox = (): boolean => {
    const box = boxAt(kept);
    if (!box) return false;
    if (box.name === 'mvhd') {
      if (kept.length < box.headBytes + movieHeadBytes) return false;
      found = lengthOf(kept.subarray(box.headBytes));
    }
    isOver = box.name === 'mvhd' || box.size < box.headBytes;
    skip = box.name === 'moov' ? box.headBytes : box.size;
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
    milliseconds: () => found,
  };
}

function boxAt(bytes: Uint8Array): Box | null {
  if (bytes.length < 8) return null;
  const name = String.fromCharCode(...bytes.subarray(4, 8));
  const size = u32(bytes, 0);
  if (size !== 1) return { name, size, headBytes: 8 };
  return bytes.length < 16 ? null : { name, size: u64(bytes, 8), headBytes: 16 };
}

/** The content of `mvhd` is a version, flags, two times, the time scale and the duration. */
function lengthOf(head: Uint8Array): number | null {
  const isLong = head[0] === 1;
  const scale = u32(head, isLong ? 20 : 12);
  const duration = isLong ? u64(head, 24) : u32(head, 16);
  const isUnknown = scale === 0 || duration === 0 || (!isLong && duration === 0xffff_ffff);
  const milliseconds = isUnknown ? 0 : Math.ceil((duration / scale) * 1000);
  // No generator takes a video of more than a day.
  return milliseconds > 0 && milliseconds <= 86_400_000 ? milliseconds : null;
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
