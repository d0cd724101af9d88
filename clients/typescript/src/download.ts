// Reads a video by its link, which needs no key. If the connection breaks, the read continues at
// the byte where it broke.

import { errorOf, VideoError } from './error.ts';
import { createLimit, type Transport } from './transport.ts';

interface Place {
  received: number;
  etag: string;
}

export async function* download(
  transport: Transport,
  url: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const place: Place = { received: 0, etag: '' };
  const patience = transport.patience(signal);
  for (;;) {
    try {
      for await (const chunk of restOf(transport, url, place, signal)) {
        yield chunk;
        // The time that the caller took for the chunk does not count.
        patience.progressed();
      }
      return;
    } catch (error) {
      await patience.pauseAfter(error);
    }
  }
}

async function* restOf(transport: Transport, url: string, place: Place, signal?: AbortSignal) {
  // A slow stream is allowed, a silent one is not.
  const silence = createLimit(transport.timeoutMs, signal);
  let response: Response | undefined;
  try {
    response = await transport.fetch(url, {
      signal: silence.signal,
      headers: place.received > 0 ? { range: `bytes=${place.received}-` } : {},
    });
    // The connection broke after the last byte.
    if (response.status === 416 && place.received > 0) return;
    if (!response.ok) throw await errorOf(response);
    let skipped = response.status === 206 ? 0 : place.received;
    checkTag(response, place);
    for await (const bytes of chunksOf(response)) {
      // The caller may take its time for a chunk.
      silence.pause();
      const chunk = skipped > 0 ? bytes.subarray(skipped) : bytes;
      skipped = Math.max(0, skipped - bytes.length);
      place.received += chunk.length;
      if (chunk.length > 0) yield chunk;
      silence.renew();
    }
  } finally {
    silence.end();
    // A body that was read cannot be cancelled any more.
    await response?.body?.cancel().catch(() => undefined);
  }
}

function checkTag(response: Response, place: Place): void {
  const etag = response.headers.get('etag') ?? '';
  if (place.received > 0 && place.etag !== '' && etag !== '' && etag !== place.etag) {
    const fields = { status: 412, code: 'content_changed' };
    throw new VideoError('The file changed while it was read.', fields);
  }
  place.etag ||= etag;
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(response: Response) {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
