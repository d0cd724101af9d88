/*
 * Results are handed out under signed addresses that die a day after the job ended, like the original
 * ones. Videos want byte ranges (players seek), so they are served here rather than from memory. Jobs
 * that were not rendered share one prepared file, at an address of their own each.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Readable as ReadableStream } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from './http';
import type { Job } from './jobs';
import { RESULT_LIFE_MS } from './jobs';
import { TINY_PNG, TINY_VIDEO } from './prepared';
import { ProtocolError } from './protocol-error';

export type ResultFiles = ReturnType<typeof createResultFiles>;

const SWEEP_MS = 3_600_000;

const TYPES: Record<string, string> = {
  mp4: 'video/mp4',
  png: 'image/png',
  jpg: 'image/jpeg',
  wav: 'audio/wav',
};

export function createResultFiles(dataDir: string, baseUrl: () => string) {
  const secret = loadSecret(join(dataDir, 'secret'));
  const urls = new WeakMap<Job, Map<string, string>>();

  function sign(path: string, expires: number): string {
    return createHmac('sha256', secret).update(`${path}\n${expires}`).digest('base64url');
  }

  /** The address of one of a finished job's files; worked out once per job. */
  function url(job: Job, name: 'video.mp4' | 'last-frame.png'): string {
    const known = urls.get(job) ?? new Map<string, string>();
    urls.set(job, known);
    const ready = known.get(name);
    if (ready !== undefined) return ready;
    const path = `/files/${job.id}/${name}`;
    const expires = Math.floor(expiresAt(job) / 1000);
    const made = `${baseUrl()}${path}?expires=${expires}&signature=${sign(path, expires)}`;
    known.set(name, made);
    return made;
  }

  /** The file behind a signed path, or a refusal; `prepared` when no rendering exists. */
  function resolve(path: string, query: URLSearchParams): { file: string; name: string } {
    const match = /^\/files\/([\w-]+)\/(video\.mp4|last-frame\.png)$/.exec(path);
    const expires = Number(query.get('expires'));
    const given = Buffer.from(query.get('signature') ?? '');
    const right = Buffer.from(sign(path, expires));
    if (!match || given.length !== right.length || !timingSafeEqual(given, right)) {
      throw new ProtocolError(403, 'AccessDenied', 'The signature does not match this address.');
    }
    if (expires * 1000 < Date.now()) {
      throw new ProtocolError(403, 'AccessDenied', 'This address has expired.');
    }
    return { file: join(folder(match[1]!), match[2]!), name: match[2]! };
  }

  function folder(jobId: string): string {
    return join(dataDir, 'results', jobId);
  }

  async function serve(exchange: Exchange): Promise<void> {
    const { file, name } = resolve(exchange.path, exchange.query);
    if (existsSync(file)) return serveFile(exchange, file);
    await serveBytes(exchange, name, name.endsWith('.png') ? TINY_PNG : TINY_VIDEO);
  }

  /** For readers of our own: a path on disk, also for a job that was not rendered. */
  function localFile(path: string, query: URLSearchParams): string {
    const { file, name } = resolve(path, query);
    if (existsSync(file)) return file;
    const prepared = join(dataDir, `prepared-${name}`);
    writeFileSync(prepared, name.endsWith('.png') ? TINY_PNG : TINY_VIDEO);
    return prepared;
  }

  /** Files whose addresses have died are of use to nobody. */
  function sweep(): void {
    const results = join(dataDir, 'results');
    if (!existsSync(results)) return;
    for (const jobId of readdirSync(results)) {
      const age = Date.now() - statSync(join(results, jobId)).mtimeMs;
      if (age > RESULT_LIFE_MS + SWEEP_MS) drop(jobId);
    }
  }

  function drop(jobId: string): void {
    rmSync(folder(jobId), { recursive: true, force: true });
  }

  sweep();
  const sweeping = setInterval(sweep, SWEEP_MS).unref();

  return {
    url,
    localFile,
    serve,
    folder,
    drop,
    close: () => clearInterval(sweeping),
  };
}

export function expiresAt(job: Job): number {
  return (job.finishedAt ?? job.createdAt) + RESULT_LIFE_MS;
}

export async function serveFile(exchange: Exchange, file: string): Promise<void> {
  const { size } = await stat(file);
  await stream(exchange, file, size, (start, end) => createReadStream(file, { start, end }));
}

async function serveBytes(exchange: Exchange, name: string, bytes: Buffer): Promise<void> {
  await stream(exchange, name, bytes.length, (start, end) =>
    ReadableStream.from([bytes.subarray(start, end + 1)]),
  );
}

async function stream(
  exchange: Exchange,
  name: string,
  size: number,
  open: (start: number, end: number) => Readable,
): Promise<void> {
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

function loadSecret(path: string): Buffer {
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
}
