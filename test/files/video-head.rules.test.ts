// Tests the reader that finds the length and the size of a video in its bytes. The size of the
// chunks must not change the result.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createVideoHead } from '../../src/files/video-head.rules';
import { readMovie } from '../studio/mp4';
import { box, mp4 } from '../support/files';

const ffmpeg: { path: string } = require('@ffmpeg-installer/ffmpeg');

function headOf(bytes: Buffer, chunkBytes = bytes.length) {
  const head = createVideoHead();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    head.read(bytes.subarray(at, at + chunkBytes));
  }
  return head;
}

const lengthOf = (bytes: Buffer, chunkBytes?: number) => headOf(bytes, chunkBytes).milliseconds();
const sizeOf = (bytes: Buffer, chunkBytes?: number) => headOf(bytes, chunkBytes).size();

const movieHead = (content: Buffer) => box('moov', box('mvhd', content));

describe('the length of a video', () => {
  test.each([1, 2, 7, 8, 9, 100, 1_000, 100_000])(
    'is found if the file is read in chunks of %i bytes',
    (chunkBytes) => {
      expect(lengthOf(mp4(4.5), chunkBytes)).toBe(4_500);
    },
  );

  test('is rounded up to a millisecond', () => {
    expect(lengthOf(mp4(1 / 600))).toBe(2);
  });

  test('is found after a box with a 64-bit size', () => {
    const head = Buffer.alloc(16);
    head.writeUInt32BE(1);
    head.write('mdat', 4);
    head.writeUInt32BE(1_016, 12);
    expect(lengthOf(Buffer.concat([head, Buffer.alloc(1_000), mp4(3)]), 10)).toBe(3_000);
  });

  test('is read from the 64-bit form of the movie header', () => {
    const content = Buffer.alloc(112);
    content.writeUInt8(1);
    content.writeUInt32BE(1_000, 20);
    content.writeUInt32BE(2_345, 28);
    expect(lengthOf(movieHead(content))).toBe(2_345);
  });

  test.each([
    ['a time scale of 0', 0, 100],
    ['a duration of 0, as in a fragmented video', 600, 0],
    ['an unknown duration', 600, 0xffff_ffff],
    ['a duration of several days', 1, 1_000_000],
  ])('is null if the movie header has %s', (_, scale, duration) => {
    const content = Buffer.alloc(100);
    content.writeUInt32BE(scale, 12);
    content.writeUInt32BE(duration, 16);
    expect(lengthOf(movieHead(content))).toBeNull();
  });

  test('is null after a box without a size and for a truncated file', () => {
    expect(lengthOf(Buffer.concat([Buffer.alloc(8), mp4(3)]))).toBeNull();
    expect(lengthOf(mp4(3).subarray(0, 1_040))).toBeNull();
  });

  test('is that of the first movie header, whatever other boxes contain', () => {
    const head = (seconds: number) => {
      const content = Buffer.alloc(100);
      content.writeUInt32BE(1_000, 12);
      content.writeUInt32BE(seconds * 1_000, 16);
      return box('mvhd', content);
    };
    for (const name of ['udta', 'free', 'uuid', 'zzzz', 'mdat']) {
      const others = box(name, Buffer.alloc(50), head(9));
      for (const chunkBytes of [1, 9, 100_000]) {
        expect(lengthOf(box('moov', others, head(3), head(9)), chunkBytes)).toBe(3_000);
      }
    }
  });

  test.each([0, 1] as const)('is the longest edit list of version %i', (version) => {
    const edits = (...durations: number[]) => {
      const bytes = version === 1 ? 20 : 12;
      const content = Buffer.alloc(8 + durations.length * bytes);
      content.writeUInt8(version);
      content.writeUInt32BE(durations.length, 4);
      for (const [n, duration] of durations.entries()) {
        content.writeUInt32BE(duration, 8 + n * bytes + (version === 1 ? 4 : 0));
      }
      return box('trak', box('edts', box('elst', content)));
    };
    const head = Buffer.alloc(100);
    head.writeUInt32BE(1_000, 12);
    head.writeUInt32BE(3_000, 16);
    const movie = (...tracks: Buffer[]) => box('moov', box('mvhd', head), ...tracks);
    const short = edits(9_000);
    short.writeUInt32BE(2, short.indexOf('elst') + 8);
    for (const chunkBytes of [1, 9, 100_000]) {
      expect(lengthOf(movie(edits(2_000, 1_500), edits(1_000)), chunkBytes)).toBe(3_500);
      expect(lengthOf(movie(edits(2_960)), chunkBytes)).toBe(3_000);
      expect(lengthOf(movie(short), chunkBytes)).toBe(3_000);
    }
  });

  test('is the same as the length that another MP4 reader finds in a real file', () => {
    const bytes = readFileSync('studio/assets/placeholder.mp4');
    expect(lengthOf(bytes, 50)).toBeGreaterThanOrEqual(readMovie(bytes).video.seconds * 1_000);
  });

  test.each([
    ['a picture', 2, [], 2_000],
    ['a sound that begins later', 2, ['-itsoffset', '0.5', '-f', 'lavfi', '-i', 'sine=d=2'], 2_500],
    ['a sound and a cut at its start', 3, ['-f', 'lavfi', '-i', 'sine=d=3', '-ss', '1'], 2_000],
  ])('is the length that a film of ffmpeg with %s plays', (_, seconds, more, milliseconds) => {
    const folder = mkdtempSync(join(tmpdir(), 'video-head-'));
    try {
      const path = join(folder, 'film.mp4');
      const picture = ['-f', 'lavfi', '-i', `testsrc=s=64x64:r=25:d=${seconds}`];
      const coded = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-bf', '2', '-c:a', 'aac'];
      execFileSync(ffmpeg.path, ['-loglevel', 'error', ...picture, ...more, ...coded, path]);
      const bytes = readFileSync(path);
      expect(bytes.includes('elst')).toBe(true);
      expect(lengthOf(bytes)).toBeGreaterThanOrEqual(milliseconds);
      // The last block of AAC has up to 1024 samples of 44,100 a second.
      expect(lengthOf(bytes)).toBeLessThanOrEqual(milliseconds + 24);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the size of a video', () => {
  /** Returns a track with a header of this version. Width and height are in pixels. */
  function track(width: number, height: number, version: 0 | 1 = 0): Buffer {
    const content = Buffer.alloc(version === 1 ? 96 : 84);
    content.writeUInt8(version);
    content.writeUInt32BE(width * 65_536, content.length - 8);
    content.writeUInt32BE(height * 65_536, content.length - 4);
    return box('trak', box('tkhd', content), box('mdia', box('free', Buffer.alloc(192))));
  }
  const ofTracks = (...tracks: Buffer[]) =>
    Buffer.concat([
      box('ftyp', Buffer.alloc(12)),
      box('moov', box('mvhd', Buffer.alloc(100)), ...tracks),
      box('mdat', Buffer.alloc(1_000)),
    ]);

  test.each([1, 7, 100, 100_000])(
    'is found if the file is read in chunks of %i bytes',
    (chunkBytes) => {
      const bytes = ofTracks(track(864, 496));
      expect(sizeOf(bytes, chunkBytes)).toEqual({ width: 864, height: 496 });
    },
  );

  test('is the size of the first track that has pixels, in both versions of the track header', () => {
    const bytes = ofTracks(track(0, 0), track(786, 1180, 1), track(320, 180));
    expect(sizeOf(bytes, 9)).toEqual({ width: 786, height: 1180 });
  });

  test('is the same as the size that another MP4 reader finds in a real file', () => {
    const bytes = readFileSync('studio/assets/placeholder.mp4');
    const { width, height } = readMovie(bytes).video;
    expect(sizeOf(bytes, 50)).toEqual({ width, height });
  });

  test('is null for a sound track, for a short track header and for a truncated file', () => {
    expect(sizeOf(ofTracks(track(0, 0)))).toBeNull();
    expect(sizeOf(ofTracks(box('trak', box('tkhd', Buffer.alloc(20)))))).toBeNull();
    expect(sizeOf(ofTracks(track(864, 496)).subarray(0, 200))).toBeNull();
  });
});

test.each<[string, Buffer, boolean]>([
  ['a whole file', mp4(3), false],
  [
    'a whole file with other bytes behind it',
    Buffer.concat([mp4(3), Buffer.from('TAG'.padEnd(128))]),
    false,
  ],
  ['a file that ends within its last box', mp4(3).subarray(0, -1), true],
  ['a file that ends between two boxes', mp4(3).subarray(0, 24), true],
])('%s is cut: %s', (_, bytes, isCut) => {
  const head = createVideoHead();
  head.read(bytes);
  expect(head.isCut()).toBe(isCut);
});

test('a file of empty boxes is read up to its thousandth box only, and the content of other boxes is skipped', () => {
  const empty = (count: number) => Buffer.alloc(8 * count, box('free'));
  expect(lengthOf(Buffer.concat([empty(900), mp4(3)]))).toBe(3_000);
  expect(lengthOf(Buffer.concat([empty(1_000), mp4(3)]))).toBeNull();
  const head = createVideoHead();
  head.read(empty(1_000));
  head.read(chunkWith());
  const other = createVideoHead();
  other.read(box('zzzz', Buffer.alloc(16_384)).subarray(0, 8));
  other.read(chunkWith('length', 'subarray'));
  other.read(chunkWith('length', 'subarray'));
});

/** A chunk of 8 KB of which no byte may be read, only these properties. */
function chunkWith(...allowed: readonly string[]): Uint8Array {
  return new Proxy(Buffer.alloc(8_192), {
    get(chunk, key) {
      if (!allowed.includes(String(key))) throw new Error(`${String(key)} was read`);
      const value: unknown = Reflect.get(chunk, key, chunk);
      return typeof value === 'function' ? value.bind(chunk) : value;
    },
  });
}

test('the length and the size of a video read from random bytes are positive numbers or null', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 64 }));
  fc.assert(
    fc.property(chunks, (list) => {
      const head = createVideoHead();
      for (const chunk of list) head.read(chunk);
      const [length, size] = [head.milliseconds(), head.size()];
      expect(length === null || length > 0).toBe(true);
      expect(size === null || size.width * size.height > 0).toBe(true);
    }),
  );
});
