// Serves /metrics on a separate port that callers cannot reach. A worker has no other port, so it
// also serves /livez and /readyz here. A worker's /metrics includes the metrics of Temporal's core,
// which are fetched from a local port of the core (docs/decisions.md, 17).

import { lookup } from 'node:dns/promises';
import { get, type RequestListener } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Logger } from '../telemetry/logger';
import type { Meters } from '../telemetry/meters';
import { listen } from './http-server';

interface MetricsOptions {
  readonly meters: Meters;
  readonly log: Logger;
  readonly host: string;
  /** The port for the metrics. If null, no server is started. */
  readonly port: number | null;
  /** Called at each scrape. Updates the gauges that are not updated by events. */
  readonly refresh?: () => Promise<void>;
  /** The local port at which Temporal's core serves its metrics. */
  readonly corePort?: number | null;
  /**
   * Returns the answer of /readyz. Without this function, /livez and /readyz are not served.
   */
  readonly health?: () => Promise<{ readonly ready: boolean; readonly parts: object }>;
}

export async function serveMetrics(options: MetricsOptions) {
  const { host, port, log } = options;
  if (port === null) return { close: async () => undefined };
  const setting = { host: 'METRICS_HOST', port: 'METRICS_PORT' };
  const servers: Awaited<ReturnType<typeof listen>>[] = [];
  for (const address of await addressesOf(host)) {
    const answer = answerer(options);
    servers.push(await listen(answer, address, servers[0]?.port ?? port, setting));
  }
  const served = servers[0]?.port;
  log.info({ event: 'metrics_served', port: served }, `metrics on port ${served}`);
  return {
    port: served,
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}

/**
 * Of a name, the addresses that this machine has: in a container, that of one network only, though
 * the name leads to other containers too. The loopback address is for the health check.
 */
async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) > 0) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const ours = found
    .map(({ address }) => address)
    .filter((one) => own.some(({ address }) => address === one));
  // Without an address of this machine, `listen` fails and names the setting.
  return ours.length > 0 ? [...new Set(['127.0.0.1', ...ours])] : [host];
}

function answerer(options: MetricsOptions): RequestListener {
  return (request, response) => {
    answerOf(options, request.url?.split('?')[0]).then(
      ({ status, type = 'text/plain', text = '' }) =>
        response.writeHead(status, { 'content-type': type }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly text?: string;
}

async function answerOf(options: MetricsOptions, path: string | undefined): Promise<Answer> {
  const { meters, health } = options;
  if (path === '/metrics') {
    const text = await metricsText(options);
    return { status: 200, type: meters.registry.contentType, text };
  }
  if (health && path === '/livez') return { status: 200, ...json({ alive: true }) };
  if (health && path === '/readyz') {
    const found = await health();
    return { status: found.ready ? 200 : 503, ...json(found) };
  }
  return { status: 404 };
}

function json(body: object): Pick<Answer, 'type' | 'text'> {
  return { type: 'application/json', text: JSON.stringify(body) };
}

async function metricsText({ meters, refresh, corePort }: MetricsOptions): Promise<string> {
  const [core] = await Promise.all([corePort ? coreText(corePort) : '', refresh?.()]);
  return `${await meters.registry.metrics()}${core}`;
}

const coreTimeoutMs = 2_000;

/** Returns the metrics of Temporal's core, or an empty text if the core does not answer. */
function coreText(port: number): Promise<string> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/metrics', timeout: coreTimeoutMs });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      response.on('error', () => resolve(''));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(''));
  });
}
