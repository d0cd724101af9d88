// Sends the bytes of a file with PUT to a URL that a caller gave, for example a presigned URL of a
// bucket. guarded-request.ts checks and sends the request. Redirects are not followed.

import { Readable } from 'node:stream';
import { GuardedFailure, type GuardedRequest, sendGuarded } from './guarded-request';

export interface Upload
  extends Pick<GuardedRequest, 'url' | 'allowHosts' | 'signal' | 'resolve' | 'ca'> {
  readonly bytes: Readable;
  readonly length: number;
  readonly contentType: string;
  /** Tests set shorter times. */
  readonly limits?: Partial<Limits>;
}

interface Limits {
  readonly connectTimeoutMs: number;
  /** The longest time for the whole upload. */
  readonly timeoutMs: number;
  /** The longest time in which the receiver neither takes nor sends a byte. */
  readonly silenceMs: number;
}

const limits: Limits = { connectTimeoutMs: 5_000, timeoutMs: 30 * 60_000, silenceMs: 30_000 };
export const uploadUrlCharsMax = 4096;

/**
 * Returns the status of the answer. The stream `bytes` is destroyed in any case. If `bytes` fails,
 * the upload fails with the same error.
 */
export async function putBytes(upload: Upload): Promise<number> {
  const { bytes, length, contentType } = upload;
  const times = { ...limits, ...upload.limits };
  const headers = { 'content-type': contentType, 'user-agent': 'video-generation-service' };
  let fault: unknown;
  bytes.on('error', (error) => {
    fault ??= error;
  });
  let read = 0;
  const counted = async function* () {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      read += chunk.length;
      yield chunk;
    }
  };
  const stream = Readable.from(counted(), { objectMode: false });
  try {
    const { outgoing, response } = await sendGuarded(
      { ...upload, ...times, headers },
      { method: 'PUT', urlCharsMax: uploadUrlCharsMax, body: { stream, length } },
    );
    outgoing.destroy();
    const { statusCode: status = 0 } = response;
    if (status < 300 && read < length) {
      throw new GuardedFailure('broken_reply', 'The address answered before it had all bytes.');
    }
    return status;
  } catch (error) {
    throw fault ?? error;
  } finally {
    stream.destroy();
    bytes.destroy();
  }
}
