// The length of a film from its bytes, however they are cut into chunks.

import fc from 'fast-check';
import { createFilmLength } from '../../src/domain/film-length';
import { box, film } from '../support/files';

function lengthOf(bytes: Buffer, chunkBytes = bytes.length): number | null {
  const length = createFilmLength();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    length.read(bytes.subarray(at, at + chunkBytes));
  }
  return length.milliseconds();
}

const movieHead = (content: Buffer) => box('moov', box('mvhd', content));

test.each([1, 2, 7, 8, 9, 100, 1_000, 100_000])('is found in chunks of %i bytes', (chunkBytes) => {
  expect(lengthOf(film(4.5), chunkBytes)).toBe(4_500);
});

test('is rounded up to a millisecond', () => {
  expect(lengthOf(film(1 / 600))).toBe(2);
});

test('is found behind a box with a long size', () => {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write('mdat', 4);
  head.writeUInt32BE(1_016, 12);
  expect(lengthOf(Buffer.concat([head, Buffer.alloc(1_000), film(3)]), 10)).toBe(3_000);
});

test('is read from the long form of the head', () => {
  const content = Buffer.alloc(112);
  content.writeUInt8(1);
  content.writeUInt32BE(1_000, 20);
  content.writeUInt32BE(2_345, 28);
  expect(lengthOf(movieHead(content))).toBe(2_345);
});

test.each([
  ['no scale', 0, 100],
  ['no duration, as of a film in fragments', 600, 0],
  ['an unknown duration', 600, 0xffff_ffff],
  ['a duration of days', 1, 1_000_000],
])('is null with %s', (_, scale, duration) => {
  const content = Buffer.alloc(100);
  content.writeUInt32BE(scale, 12);
  content.writeUInt32BE(duration, 16);
  expect(lengthOf(movieHead(content))).toBeNull();
});

test('is null for a box without a size, and for a file that is cut', () => {
  expect(lengthOf(Buffer.concat([Buffer.alloc(8), film(3)]))).toBeNull();
  expect(lengthOf(film(3).subarray(0, 1_040))).toBeNull();
});

test('of any bytes in any chunks is a number or null', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 64 }));
  fc.assert(
    fc.property(chunks, (list) => {
      const length = createFilmLength();
      for (const chunk of list) length.read(chunk);
      const found = length.milliseconds();
      expect(found === null || found > 0).toBe(true);
    }),
  );
});
