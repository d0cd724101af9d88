/*
 * The studio: a server of its own that speaks the protocols of a video generator and of a video
 * enhancer and renders real files. It stands where a paid service would stand, so it shares no code
 * with the gateway that calls it: agreement between the two has to come through the wire.
 */

import { timingSafeEqual } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdmin } from './admin';
import { createCallbacks } from './callbacks';
import { createFaults } from './create-faults';
import { createEnhancer } from './enhancer';
import { createGenerator } from './generator';
import type { Exchange, Log } from './http';
import { header, openExchange, sendJson } from './http';
import { createJobStore } from './job-store';
import type { Job } from './jobs';
import { createMediaStore } from './media';
import { prepareResult } from './prepared-result';
import { ProtocolError } from './protocol-error';
import { createRenderRoom } from './render-room';
import { createResultFiles } from './result-files';
import { createSamples } from './samples';

export interface StudioOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** What result and sample addresses start with; by default, where the studio listens. */
  publicUrl?: string | undefined;
  apiKey: string;
  /** Without it there is no admin endpoint. */
  adminKey?: string | undefined;
  dataDir: string;
  /** Exact host:port pairs media and callbacks may use although they are inside. */
  allowHosts: string[];
  /** Rendered jobs of one kind that are `running` at once; the others are `queued`. */
  maxRunning: number;
  /** ffmpeg processes at once. */
  maxRenders: number;
  ffmpegPath?: string | undefined;
  log?: Log | undefined;
}

export interface Studio {
  url: string;
  close(): Promise<void>;
}

const GENERATIONS = '/api/v3/contents/generations/tasks';
const ENHANCE = '/api/v1/tools/enhance-video';
const ENHANCEMENTS = '/api/v1/tasks';

const silence: Log = { info() {}, warn() {}, error() {} };

export async function createStudio(options: StudioOptions): Promise<Studio> {
  const log = options.log ?? silence;
  mkdirSync(options.dataDir, { recursive: true });
  let baseUrl = (options.publicUrl ?? '').replace(/\/+$/, '');
  let ownUrl = '';

  const files = createResultFiles(options.dataDir, () => baseUrl);
  const samples = createSamples(join(options.dataDir, 'samples'), options.ffmpegPath, log);
  const media = createMediaStore({
    dataDir: options.dataDir,
    allowHosts: options.allowHosts,
    ownFile,
  });
  const callbacks = createCallbacks(options.allowHosts, log);
  const store = createJobStore({
    dataDir: options.dataDir,
    log,
    runningMax: options.maxRunning,
    onChange: announce,
    onStart: (job) => room.start(job),
    onEnd: (job) => room.stop(job),
    onForget: (job) => files.drop(job.id),
    prepare: prepareResult,
  });
  const room = createRenderRoom({
    rendersMax: options.maxRenders,
    ffmpegPath: options.ffmpegPath,
    media,
    dataDir: options.dataDir,
    folderOf: files.folder,
    log,
    onDone: store.rendered,
  });
  const admin = createAdmin(store, callbacks.sent);
  const shared = { store, files, media, faults: createFaults(), globalScript: admin.script };
  const generator = createGenerator(shared);
  const enhancer = createEnhancer(shared);

  function announce(job: Job): void {
    if (job.callbackUrl === undefined) return;
    const body = job.kind === 'generation' ? generator.view(job) : enhancer.view(job);
    const isFinalNotice = job.status === 'succeeded' || job.status === 'failed';
    callbacks.notify(job.id, job.callbackUrl, body, isFinalNotice);
  }

  /** An address of our own needs no call: here is the file. */
  async function ownFile(url: string): Promise<string | undefined> {
    const base = [baseUrl, ownUrl].find((own) => own !== '' && url.startsWith(`${own}/`));
    if (base === undefined) return undefined;
    const { pathname, searchParams } = new URL(url);
    const path = pathname.slice(new URL(base).pathname.replace(/\/$/, '').length);
    if (path.startsWith('/samples/')) return samples.file(path.slice('/samples/'.length));
    return files.localFile(path, searchParams);
  }

  async function route(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && path === '/healthz') return sendJson(exchange, 200, { status: 'ok' });
    if (isRead && path.startsWith('/files/')) return files.serve(exchange);
    if (isRead && path.startsWith('/samples/')) return samples.serve(exchange);
    if (path.startsWith('/admin/') && options.adminKey !== undefined) {
      requireKey(exchange, options.adminKey);
      return admin.handle(exchange);
    }
    const id = /^\/api\/(?:v3\/contents\/generations|v1)\/tasks\/([\w-]+)$/.exec(path)?.[1] ?? '';
    const pattern = id === '' ? path : path.replace(id, '{id}');
    const call = calls[`${method} ${pattern}`];
    if (!call) throw new ProtocolError(404, 'NotFound', `There is no ${method} ${path}.`);
    admin.count(`${method} ${pattern}`);
    requireKey(exchange, options.apiKey);
    store.settleDue();
    await call(exchange, id);
  }

  const calls: Record<string, (exchange: Exchange, id: string) => void | Promise<void>> = {
    [`POST ${GENERATIONS}`]: generator.create,
    [`GET ${GENERATIONS}`]: generator.list,
    [`GET ${GENERATIONS}/{id}`]: generator.get,
    [`DELETE ${GENERATIONS}/{id}`]: generator.remove,
    [`POST ${ENHANCE}`]: enhancer.submit,
    [`GET ${ENHANCEMENTS}/{id}`]: enhancer.get,
  };

  const server = createServer((request, response) => {
    const exchange = openExchange(request, response);
    route(exchange).catch((error: unknown) => refuse(exchange, error, log));
  });
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 65_000;

  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(options.port, options.host, listening);
  });
  const { port } = server.address() as AddressInfo;
  const host = /^(0\.0\.0\.0|::)$/.test(options.host) ? '127.0.0.1' : options.host;
  ownUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  baseUrl = baseUrl || ownUrl;
  store.resume();
  samples.prepare();
  log.info({ url: ownUrl, models: 5 }, 'studio: listening');

  let closing: Promise<void> | undefined;

  async function end(): Promise<void> {
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeAllConnections();
    callbacks.close();
    store.close();
    files.close();
    await Promise.all([closed, room.close(), samples.close()]);
  }

  return { url: ownUrl, close: () => (closing ??= end()) };
}

function requireKey(exchange: Exchange, key: string): void {
  const sent = Buffer.from(
    /^Bearer (.+)$/i.exec(header(exchange, 'authorization') ?? '')?.[1] ?? '',
  );
  const right = Buffer.from(key);
  if (sent.length === right.length && timingSafeEqual(sent, right)) return;
  throw new ProtocolError(
    401,
    'AuthenticationError',
    'The API key or AK/SK in the request is missing or invalid.',
  );
}

function refuse(exchange: Exchange, error: unknown, log: Log): void {
  if (exchange.response.destroyed || exchange.response.headersSent) return;
  if (!(error instanceof ProtocolError)) {
    log.error({ error: String(error), path: exchange.path }, 'studio: a request failed');
  }
  const fault =
    error instanceof ProtocolError
      ? error
      : new ProtocolError(
          500,
          'InternalServiceError',
          'The service encountered an unexpected internal error.',
        );
  const body = fault.body(exchange.requestId);
  const isEnhancer = exchange.path.startsWith('/api/v1/');
  const envelope = isEnhancer
    ? { success: false, error: body, request_id: exchange.requestId }
    : { error: body };
  const retryAfter = fault.retryAfterSeconds;
  const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
  // A body that was not read must not be taken for the next request.
  const unread = exchange.request.complete ? {} : { Connection: 'close' };
  sendJson(exchange, fault.status, envelope, { ...headers, ...unread });
}
