// Stores files in a bucket of any S3-compatible service.

import { randomUUID } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { bytesOf, failAsStorage } from './file-faults';
import { SourceFailure } from './s3-faults';
import { createS3Requests, type S3Requests, type S3Settings } from './s3-requests';
import { type Storage, StorageError, type StoredObject, type WriteOptions } from './storage';

/** Bytes of unknown length are first written to a file in `folder`. */
export function createS3(settings: S3Settings, folder: string): Storage {
  const requests = createS3Requests(settings);

  return {
    async write(key, bytes, { length, ...options }) {
      // An error of the source before the first read would otherwise be uncaught.
      bytes.on('error', () => undefined);
      try {
        if (length !== null) return await put(requests, key, bytes, length, options);
        const file = await fileOf(folder, bytes, options.signal);
        await put(requests, key, file.bytes, file.length, options).finally(() =>
          file.bytes.destroy(),
        );
      } catch (error) {
        throw error instanceof SourceFailure ? error.cause : error;
      } finally {
        bytes.destroy();
      }
    },

    read(key, range) {
      const headers = range ? { range: `bytes=${range.first}-${range.last}` } : {};
      return requests.ask({ method: 'GET', key, headers });
    },

    async remove(key) {
      await drained(await requests.ask({ method: 'DELETE', key }));
    },

    list: (prefix) => objects(requests, prefix),

    presigned: (key, { seconds, contentType, from = new Date() }) =>
      requests.presign(key, from, {
        'X-Amz-Expires': String(seconds),
        'response-content-type': contentType,
      }),
  };
}

async function put(
  requests: S3Requests,
  key: string,
  bytes: Readable,
  length: number,
  { contentType, signal }: Omit<WriteOptions, 'length'>,
): Promise<void> {
  let isWhole = false;
  const body = measured(key, bytes, length, () => {
    isWhole = true;
  });
  const reply = await requests.ask({
    method: 'PUT',
    key,
    headers: {
      'content-type': contentType,
      'content-length': length,
      ...(length > 0 ? { expect: '100-continue' } : {}),
    },
    send(outgoing) {
      outgoing.once('close', () => bytes.destroy());
      // If all bytes were sent, an error is ignored: the service may close the connection right
      // after its answer, before our stream has ended.
      return pipeline(body, outgoing).catch((error) => {
        if (!isWhole) throw error;
      });
    },
    signal,
  });
  reply?.resume();
}

async function* objects(requests: S3Requests, prefix: string): AsyncGenerator<StoredObject> {
  let from: { 'continuation-token'?: string } | null = {};
  while (from !== null) {
    const query = { 'list-type': '2', prefix, ...from };
    const page = await drained(await requests.ask({ method: 'GET', query }));
    yield* objectsIn(page);
    const next: string | null = textOf('NextContinuationToken', page);
    from = next === null ? null : { 'continuation-token': next };
  }
}

async function drained(reply: Readable | null): Promise<string> {
  return reply ? text(reply) : '';
}

/**
 * Yields the bytes of the source. The last chunk is yielded only after the length is checked. So S3
 * never gets a complete object of a wrong length.
 */
async function* measured(
  key: string,
  bytes: Readable,
  length: number,
  onWhole: () => void,
): AsyncGenerator<Buffer> {
  let sent = 0;
  let last: Buffer | null = null;
  const checked = (isRight: boolean, found: string) => {
    if (!isRight)
      throw new StorageError('wrong length', `${key} has ${found} than ${length} bytes.`);
  };
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      sent += chunk.length;
      checked(sent <= length, 'more');
      if (last) yield last;
      last = chunk;
    }
  } catch (cause) {
    throw cause instanceof StorageError ? cause : new SourceFailure('', { cause });
  }
  checked(sent === length, 'fewer');
  onWhole();
  if (last) yield last;
}

/**
 * S3 needs the length in advance, so bytes of unknown length are first written to a file. A file
 * takes less memory than the parts of a multipart upload. The file is deleted while it is open, so
 * a crash leaves nothing behind.
 */
async function fileOf(
  folder: string,
  source: Readable,
  signal: AbortSignal | undefined,
): Promise<{ readonly length: number; readonly bytes: Readable }> {
  await mkdir(folder, { recursive: true }).catch(failAsStorage);
  const path = join(folder, `.unfinished-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600).catch(failAsStorage);
  try {
    await rm(path).catch(failAsStorage);
    if (signal) addAbortSignal(signal, source);
    for await (const chunk of source as AsyncIterable<Buffer>) {
      await file.appendFile(chunk).catch(failAsStorage);
    }
    const { size } = await file.stat().catch(failAsStorage);
    return { length: size, bytes: bytesOf(file, { first: 0, last: Infinity }) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function objectsIn(page: string): StoredObject[] {
  const found = page.matchAll(/<Contents>(.*?)<\/Contents>/gs);
  return Array.from(found, ([, item = '']) => ({
    key: textOf('Key', item) ?? '',
    length: Number(textOf('Size', item)),
    modifiedAt: new Date(textOf('LastModified', item) ?? ''),
  }));
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
};

function textOf(name: string, xml: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found?.replace(/&\w+;/g, (entity) => entities[entity] ?? entity) ?? null;
}
