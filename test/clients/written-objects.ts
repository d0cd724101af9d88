// Objects that the service writes for foreign clients of S3 to read: one of known length, and one
// whose length is not known in advance.

import { Readable } from 'node:stream';
import type { Storage } from '../../src/storage/storage';

/** The range is that of the bytes 2 to 4. */
export const objectAsRead = { length: 10, type: 'video/mp4', body: '0123456789', range: '234' };

/** Returns the keys in their order. */
export async function writeObjects(storage: Storage): Promise<readonly string[]> {
  const lengths = [objectAsRead.length, null];
  const keys = lengths.map((length) => `results/task_${length}/video`);
  for (const [n, key] of keys.entries()) {
    const bytes = Readable.from([Buffer.from(objectAsRead.body)]);
    await storage.write(key, bytes, {
      contentType: objectAsRead.type,
      length: lengths[n] ?? null,
    });
  }
  return keys.sort();
}
