// Writes two objects with the service's storage code, for the tests of foreign S3 clients. The
// length of one is given, the length of the other is not known in advance.

import { Readable } from 'node:stream';
import type { Storage } from '../../src/files/storage/storage';

/** The expected values of each object. `range` has the bytes 2 to 4. */
export const objectAsRead = { length: 10, type: 'video/mp4', body: '0123456789', range: '234' };

/** Returns the sorted keys. */
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
