/*
 * Sends a file, and supports byte ranges because players seek. A scripted fault can change the
 * reply, for example send a stream of zeros instead of the file.
 */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../http';
import type { ResultFault } from '../jobs/fault-script';

export interface Content {
  /** The file extension determines the content type. */
  name: string;
  size: number;
  /** Reads the bytes from `start` to `end`, both included. */
  open(start: number, end: number): Readable;
}

const TYPES: Record<string, string> = {
  mp4: 'video/mp4',
  png: 'image/png',
  jpg: 'image/jpeg',
  wav: 'audio/wav',
};

const ZEROS = Buffer.alloc(65_536);
/** If a fault slows the body, it is sent in this many pieces per second. */
const PIECES_PER_SECOND = 10;

export async function fileContent(file: string): Promise<Content> {
  const { size } = await stat(file);
  return { name: file, size, open: (start, end) => createReadStream(file, { start, end }) };
}

export async function serveContent(
  exchange: Exchange,
  content: Content,
  fault: ResultFault = {},
): Promise<void> {
  const { name, size, open } = fault.total_bytes === undefined ? content : zeros(content, fault);
  const { request, response } = exchange;
  const range = parseRange(request.headers.range, size);
  const headers = {
    'Content-Type': TYPES[name.split('.').pop()!] ?? 'application/octet-stream',
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=3600',
    'X-Content-Type-Options': 'nosniff',
    // A page of another origin may show and download the file if the page has the link.
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...headers, 'Content-Range': `bytes */${size}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  response.writeHead(range ? 206 : 200, {
    ...headers,
    ...lengthHeaders(end - start + 1, fault),
    ...(range ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {}),
  });
  if (exchange.method === 'HEAD') return void response.end();
  const body = open(start, end);
  const isCut = fault.stop_after_bytes !== undefined;
  const sent = isCut || fault.bytes_per_s ? slowOrCut(body, fault) : body;
  // The client may disconnect at any time, which is no error of the studio.
  await pipeline(sent, response, { end: !isCut }).catch(() => response.destroy());
  // Unlike destroy(), destroySoon() first sends the bytes in the buffer.
  if (isCut) request.socket.destroySoon();
}

function lengthHeaders(length: number, { claim_bytes }: ResultFault): object {
  if (claim_bytes === undefined) return { 'Content-Length': length };
  return { 'Content-Length': claim_bytes, Connection: 'close' };
}

function zeros({ name }: Content, { total_bytes = 0 }: ResultFault): Content {
  function* chunks(length: number) {
    for (let left = length; left > 0; left -= ZEROS.length) {
      yield left < ZEROS.length ? ZEROS.subarray(0, left) : ZEROS;
    }
  }
  return { name, size: total_bytes, open: (start, end) => Readable.from(chunks(end - start + 1)) };
}

async function* slowOrCut(body: Readable, fault: ResultFault): AsyncGenerator<Buffer> {
  const { stop_after_bytes: stop = Number.POSITIVE_INFINITY, bytes_per_s: rate } = fault;
  const piece = rate === undefined ? ZEROS.length : Math.ceil(rate / PIECES_PER_SECOND);
  let sent = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; at += piece) {
      const part = chunk.subarray(at, Math.min(at + piece, at + stop - sent));
      yield part;
      sent += part.length;
      if (sent >= stop) return;
      if (rate) await delay((part.length / rate) * 1000, undefined, { ref: false });
    }
  }
}

function parseRange(text: string | undefined, size: number) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(text ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const fromEnd = match[1] === '';
  const start = fromEnd ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const end = fromEnd || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  return start > end ? 'unsatisfiable' : { start, end };
}
