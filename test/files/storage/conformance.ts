// Contains the tests that every implementation of the storage must pass.

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Storage } from '../../../src/files/storage/storage';

const video = { contentType: 'video/mp4', length: null };
const bytesOf = async (bytes: Readable | null) => (bytes ? (await buffer(bytes)).toString() : null);
const sent = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

export function testStorage(open: () => Promise<Storage>): void {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });

  test('a written object can be read as a whole and by range', async () => {
    await storage.write('results/one.mp4', sent('0123', '456789'), { ...video, length: 10 });
    expect(await bytesOf(await storage.read('results/one.mp4'))).toBe('0123456789');
    expect(await bytesOf(await storage.read('results/one.mp4', { first: 2, last: 4 }))).toBe('234');
  });

  test('a write without a given length stores all bytes', async () => {
    await storage.write('results/two.mp4', sent('abc', 'def'), video);
    expect(await bytesOf(await storage.read('results/two.mp4'))).toBe('abcdef');
  });

  test('the read of a missing object returns null, and the removal of a missing object is no error', async () => {
    expect(await storage.read('results/none.mp4')).toBeNull();
    await storage.remove('results/none.mp4');
  });

  test('a second write with the same key replaces the object', async () => {
    await storage.write('results/three.mp4', sent('old'), { ...video, length: 3 });
    await storage.write('results/three.mp4', sent('newer'), { ...video, length: 5 });
    expect(await bytesOf(await storage.read('results/three.mp4'))).toBe('newer');
  });

  test.each([
    ['with fewer bytes than announced', () => sent('1234'), {}],
    ['with more bytes than announced', () => sent('12345', '6'), {}],
    ['whose source fails', () => cutOff(), {}],
    ['that is aborted', () => sent('12345'), { signal: AbortSignal.abort() }],
  ])('a write %s fails and does not change the stored object', async (_, bytes, extra) => {
    await storage.write('results/four.mp4', sent('old'), { ...video, length: 3 });
    const write = storage.write('results/four.mp4', bytes(), { ...video, length: 5, ...extra });
    await expect(write).rejects.toThrow();
    expect(await bytesOf(await storage.read('results/four.mp4'))).toBe('old');
  });

  test('an error of the source of a write is no fault of the storage, whatever its code is', async () => {
    const cut = Object.assign(new Error('The sender is gone.'), { code: 'ETIMEDOUT' });
    const source = new Readable({ read: () => undefined });
    const write = storage.write('results/five.mp4', source, { ...video, length: 5 });
    setImmediate(() => source.destroy(cut));
    await expect(write).rejects.toBe(cut);
  });

  test('a removed object is not listed', async () => {
    await storage.write('listed/a.mp4', sent('a'), video);
    await storage.write('listed/b/c.mp4', sent('bc'), video);
    await storage.write('listed/d.mp4', sent('d'), video);
    await storage.remove('listed/d.mp4');
    const found: Record<string, number> = {};
    for await (const { key, length } of storage.list('listed/')) found[key] = length;
    expect(found).toEqual({ 'listed/a.mp4': 1, 'listed/b/c.mp4': 2 });
  });
}

function cutOff(): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from('12');
      throw new Error('The connection was cut.');
    })(),
  );
}
