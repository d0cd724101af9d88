/*
 * The studio: a server of its own that speaks the protocols of a video generator and of a video
 * enhancer and renders real files. It stands where a paid service would stand, so it shares no code
 * with the gateway that calls it: agreement between the two has to come through the wire.
 */

import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from './http';
import { openExchange } from './http';
import type { RoomOptions } from './rooms';
import { openRooms } from './rooms';
import { createRouter } from './routes';

export interface StudioOptions extends RoomOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** What result and sample addresses start with; by default, where the studio listens. */
  publicUrl?: string | undefined;
  apiKey: string;
  /** Without it there is no admin endpoint. */
  adminKey?: string | undefined;
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
  const addresses = { base: (options.publicUrl ?? '').replace(/\/+$/, ''), own: '' };
  const rooms = openRooms(options, addresses, log);
  const answer = createRouter(rooms, options, log);
  const server = createServer((request, response) => void answer(openExchange(request, response)));
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 65_000;

  addresses.own = await listen(server, options);
  addresses.base ||= addresses.own;
  rooms.store.resume();
  rooms.samples.prepare();
  log.info({ url: addresses.own, models: 5 }, 'studio: listening');

  async function end(): Promise<void> {
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeAllConnections();
    await Promise.all([closed, rooms.close()]);
  }

  let closing: Promise<void> | undefined;
  return { url: addresses.own, close: () => (closing ??= end()) };
}

/** Returns where this machine reaches it. */
async function listen(server: Server, options: { host: string; port: number }): Promise<string> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(options.port, options.host, listening);
  });
  const { port } = server.address() as AddressInfo;
  const host = /^(0\.0\.0\.0|::)$/.test(options.host) ? '127.0.0.1' : options.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
