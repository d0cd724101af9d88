/*
 * A file, or bytes that stand for one, as an answer. Players seek, so byte ranges are honoured.
 */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from './http';

interface Content {
  /** Its ending tells the type. */
  name: string;
  size: number;
  /** Both ends included. */
  open(start: number, end: number): Readable;
}

const TYPES: Record<string, string> = {
  mp4: 'video/mp4',
  png: 'image/png',
  jpg: 'image/jpeg',
  wav: 'audio/wav',
};

export async function serveFile(exchange: Exchange, file: string): Promise<void> {
  const { size } = await stat(file);
  const open = (start: number, end: number) => createReadStream(file, { start, end });
  await serve(exchange, { name: file, size, open });
}

export async function serveBytes(exchange: Exchange, name: string, bytes: Buffer): Promise<void> {
  const open = (start: number, end: number) => Readable.from([bytes.subarray(start, end + 1)]);
  await serve(exchange, { name, size: bytes.length, open });
}

async function serve(exchange: Exchange, { name, size, open }: Content): Promise<void> {
  const { request, response } = exchange;
  const range = parseRange(request.headers.range, size);
  const headers = {
    'Content-Type': TYPES[name.split('.').pop()!] ?? 'application/octet-stream',
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=3600',
    'X-Content-Type-Options': 'nosniff',
    // A page of another origin may show and download what it holds the address of.
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
    'Content-Length': end - start + 1,
    ...(range ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {}),
  });
  if (exchange.method === 'HEAD') response.end();
  // A reader that goes away is no error of ours.
  else await pipeline(open(start, end), response).catch(() => response.destroy());
}

function parseRange(text: string | undefined, size: number) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(text ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const fromEnd = match[1] === '';
  const start = fromEnd ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const end = fromEnd || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  return start > end ? 'unsatisfiable' : { start, end };
}
