/*
 * The studio is a server that speaks the protocols of a video generator and a video enhancer, and
 * renders real videos. The studio shares no code with the service. The two communicate only over
 * HTTP.
 */

import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PartOptions } from './compose';
import { composeStudio } from './compose';
import type { Log } from './http';
import { openExchange } from './http';
import { createRouter } from './routes';

export interface StudioOptions extends PartOptions {
  host: string;
  /** 0 means any free port. */
  port: number;
  /** The prefix of links. The default is the URL on which the studio listens. */
  publicUrl?: string | undefined;
  /** The prefix of sample links, which browsers open. The default is `publicUrl`. */
  samplesUrl?: string | undefined;
  apiKey: string;
  log?: Log | undefined;
}

export interface Studio {
  url: string;
  close(): Promise<void>;
}

const silence: Log = { info() {}, warn() {}, error() {} };

export async function createStudio(options: StudioOptions): Promise<Studio> {
  const log = options.log ?? silence;
  mkdirSync(options.dataDir, { recursive: true });
  const addresses = {
    base: withoutSlash(options.publicUrl),
    samples: withoutSlash(options.samplesUrl),
    own: '',
  };
  const parts = composeStudio(options, addresses, log);
  const answer = createRouter(parts, options.apiKey, log);
  const server = createServer((request, response) => void answer(openExchange(request, response)));
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 65_000;

  addresses.own = await listen(server, options);
  addresses.base ||= addresses.own;
  addresses.samples ||= addresses.base;
  parts.store.resume();
  log.info({ url: addresses.own }, 'studio: listening');

  async function end(): Promise<void> {
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeAllConnections();
    await Promise.all([closed, parts.close()]);
  }

  let closing: Promise<void> | undefined;
  return { url: addresses.own, close: () => (closing ??= end()) };
}

/** Listens, and returns a URL at which this machine can reach the studio. */
async function listen(server: Server, options: { host: string; port: number }): Promise<string> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(options.port, options.host, listening);
  });
  const { port } = server.address() as AddressInfo;
  const host = /^(0\.0\.0\.0|::)$/.test(options.host) ? '127.0.0.1' : options.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function withoutSlash(url = ''): string {
  return url.replace(/\/+$/, '');
}
