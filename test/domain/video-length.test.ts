// The length of a mp4 from its bytes, however they are cut into chunks.

import fc from 'fast-check';
import { createVideoLength } from '../../src/domain/video-length';
import { box, mp4 } from '../support/files';

function lengthOf(bytes: Buffer, chunkBytes = bytes.length): number | null {
  const length = createVideoLength();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    length.read(bytes.subarray(at, at + chunkBytes));
  }
  return length.milliseconds();
}

const movieHead = (content: Buffer) => box('moov', box('mvhd', content));

test.each([1, 2, 7, 8, 9, 100, 1_000, 100_000])(
  'the length is found in chunks of %i bytes',
  (chunkBytes) => {
    expect(lengthOf(mp4(4.5), chunkBytes)).toBe(4_500);
  },
);

test('the length is rounded up to a millisecond', () => {
  expect(lengthOf(mp4(1 / 600))).toBe(2);
});

test('the length is found behind a box with a long size', () => {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write('mdat', 4);
  head.writeUInt32BE(1_016, 12);
  expect(lengthOf(Buffer.concat([head, Buffer.alloc(1_000), mp4(3)]), 10)).toBe(3_000);
});

test('the length is read from the long form of the head', () => {
  const content = Buffer.alloc(112);
  content.writeUInt8(1);
  content.writeUInt32BE(1_000, 20);
  content.writeUInt32BE(2_345, 28);
  expect(lengthOf(movieHead(content))).toBe(2_345);
});

test.each([
  ['no scale', 0, 100],
  ['no duration, as of a mp4 in fragments', 600, 0],
  ['an unknown duration', 600, 0xffff_ffff],
  ['a duration of days', 1, 1_000_000],
])('the length is null with %s', (_, scale, duration) => {
  const content = Buffer.alloc(100);
  content.writeUInt32BE(scale, 12);
  content.writeUInt32BE(duration, 16);
  expect(lengthOf(movieHead(content))).toBeNull();
});

test('the length is null for a box without a size, and for a file that is cut', () => {
  expect(lengthOf(Buffer.concat([Buffer.alloc(8), mp4(3)]))).toBeNull();
  expect(lengthOf(mp4(3).subarray(0, 1_040))).toBeNull();
});

test('the length of any bytes in any chunks is a number or null', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 64 }));
  fc.assert(
    fc.property(chunks, (list) => {
      const length = createVideoLength();
      for (const chunk of list) length.read(chunk);
      const found = length.milliseconds();
      expect(found === null || found > 0).toBe(true);
    }),
  );
});
