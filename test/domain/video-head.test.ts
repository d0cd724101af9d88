// Tests the reader that finds the length and the size of a video in its bytes. The size of the
// chunks must not change the result.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { createVideoHead } from '../../src/domain/video-head';
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
});

describe('the length of a video with a forged movie header', () => {
  /** A movie header or a track header, with 1,000 units a second. */
  function times(name: string, milliseconds: number): Buffer {
    const content = Buffer.alloc(100);
    content.writeUInt32BE(1_000, 12);
    content.writeUInt32BE(milliseconds, 16);
    return box(name, content);
  }
  function sampleTimes(...entries: readonly (readonly [count: number, each: number])[]): Buffer {
    const content = Buffer.alloc(8 + entries.length * 8);
    content.writeUInt32BE(entries.length, 4);
    for (const [n, [count, each]] of entries.entries()) {
      content.writeUInt32BE(count, 8 + n * 8);
      content.writeUInt32BE(each, 12 + n * 8);
    }
    return box('stts', content);
  }
  const movie = (track: number, table: Buffer, ...edits: Buffer[]) =>
    box(
      'moov',
      times('mvhd', 1_000),
      box('trak', ...edits, box('mdia', times('mdhd', track), box('minf', box('stbl', table)))),
    );
  /** An edit list of this version, with times in milliseconds. A start of -1 is an empty edit. */
  function edits(
    version: 0 | 1,
    ...entries: readonly (readonly [duration: number, start: number])[]
  ): Buffer {
    const bytes = version === 1 ? 20 : 12;
    const content = Buffer.alloc(8 + entries.length * bytes);
    content.writeUInt8(version);
    content.writeUInt32BE(entries.length, 4);
    for (const [n, [duration, start]] of entries.entries()) {
      const at = 8 + n * bytes;
      if (version === 1) {
        content.writeBigUInt64BE(BigInt(duration), at);
        content.writeBigInt64BE(BigInt(start), at + 8);
      } else {
        content.writeUInt32BE(duration, at);
        content.writeInt32BE(start, at + 4);
      }
      content.writeUInt16BE(1, at + bytes - 4);
    }
    return box('edts', box('elst', content));
  }
  const second = sampleTimes([25, 40]);

  test.each([1, 9, 100_000])('is the longest in chunks of %i bytes', (chunkBytes) => {
    expect(lengthOf(movie(9_000, sampleTimes([25, 40])), chunkBytes)).toBe(9_000);
    expect(lengthOf(movie(2_000, sampleTimes([100, 40], [50, 100])), chunkBytes)).toBe(9_000);
    const whole = Buffer.concat([box('mdat', Buffer.alloc(5_000)), movie(500, sampleTimes())]);
    expect(lengthOf(whole, chunkBytes)).toBe(1_000);
  });

  test.each([0, 1] as const)(
    'is the sum of an edit list of version %i that plays the same second again and again',
    (version) => {
      const replayed = Array.from({ length: 15 }, () => [1_000, 0] as const);
      for (const chunkBytes of [1, 9, 100_000]) {
        const bytes = movie(1_000, second, edits(version, ...replayed));
        expect(lengthOf(bytes, chunkBytes)).toBe(15_000);
      }
      const delayed = edits(version, [500, -1], [1_000, 0]);
      expect(lengthOf(movie(1_000, second, delayed))).toBe(1_500);
      expect(lengthOf(movie(1_000, second, edits(version, [960, 40])))).toBe(1_000);
    },
  );

  test('is null if an edit list is incomplete, too large, or not after the only movie header', () => {
    const short = edits(0, [1_000, 0]);
    short.writeUInt32BE(15, short.indexOf('elst') + 8);
    const large = edits(0, ...Array.from({ length: 6_000 }, () => [1, 0] as const));
    for (const list of [short, large, box('edts', box('elst', Buffer.alloc(4)))]) {
      expect(lengthOf(movie(1_000, second, list), 100)).toBeNull();
    }
    const head = times('mvhd', 1_000);
    const track = box('trak', edits(0, [1_000, 0]));
    expect(lengthOf(box('moov', head, track))).toBe(1_000);
    expect(lengthOf(box('moov', track, head))).toBeNull();
    expect(lengthOf(box('moov', head, track, head))).toBeNull();
  });

  test('is null if the video has more samples than sample times', () => {
    const samples = (name: string, count: number) => {
      const content = Buffer.alloc(12);
      content.writeUInt32BE(count, 8);
      return box(name, content);
    };
    for (const name of ['stsz', 'stz2']) {
      const of = (count: number) => movie(1_000, Buffer.concat([second, samples(name, count)]));
      expect(lengthOf(of(25), 9)).toBe(1_000);
      expect(lengthOf(of(26), 9)).toBeNull();
      // The tables of a track may have any order.
      const turned = movie(1_000, Buffer.concat([samples(name, 25), second]));
      expect(lengthOf(turned, 9)).toBe(1_000);
    }
    expect(lengthOf(movie(1_000, box('stsz', Buffer.alloc(4))))).toBeNull();
  });

  test('is null if tables are hidden, incomplete, too large or in fragments', () => {
    const table = sampleTimes([100, 40]);
    const short = sampleTimes([1, 40]);
    short.writeUInt32BE(1_000_000, 12);
    const large = sampleTimes(...Array.from({ length: 10_000 }, () => [1, 40] as const));
    const behind = Buffer.concat([movie(1_000, table), box('moof', Buffer.alloc(8))]);
    const longer = edits(0, [9_000, 0]);
    const over = movie(1_000, table);
    over.writeUInt32BE(20_000, over.indexOf('mdia') - 4);
    const cut = movie(1_000, table).subarray(0, 150);
    for (const bytes of [movie(1_000, short), movie(1_000, large), behind, over, cut]) {
      expect(lengthOf(bytes, 100)).toBeNull();
    }
    // Players find a table in such boxes.
    for (const name of ['udta', 'dinf', 'stsd', 'zzzz']) {
      const hidden = movie(1_000, table, box(name, Buffer.alloc(50), longer));
      for (const chunkBytes of [1, 9, 100_000]) expect(lengthOf(hidden, chunkBytes)).toBeNull();
    }
    expect(lengthOf(movie(1_000, second, box('cmov', Buffer.alloc(50))))).toBeNull();
    for (const name of ['free', 'uuid']) {
      expect(lengthOf(movie(1_000, second, box(name, longer)))).toBe(1_000);
    }
    expect(lengthOf(Buffer.concat([box('mdat', longer), movie(1_000, second)]))).toBe(1_000);
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

test('a file of empty boxes is read up to its thousandth box only, and a large box is not searched as a whole', () => {
  const empty = (count: number) => Buffer.alloc(8 * count, box('free'));
  expect(lengthOf(Buffer.concat([empty(900), mp4(3)]))).toBe(3_000);
  expect(lengthOf(Buffer.concat([empty(1_000), mp4(3)]))).toBeNull();
  const started = process.cpuUsage();
  const chunk = empty(8_192);
  const head = createVideoHead();
  for (let read = 0; read < 40_000_000; read += chunk.length) head.read(chunk);
  const other = createVideoHead();
  other.read(box('zzzz', Buffer.alloc(40_000_000)).subarray(0, 8));
  for (let read = 0; read < 40_000_000; read += chunk.length) other.read(chunk);
  const { user, system } = process.cpuUsage(started);
  expect(user + system).toBeLessThan(2_000_000);
});

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
