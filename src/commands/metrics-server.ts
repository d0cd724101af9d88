// /metrics on a port of its own, apart from what callers can reach. The worker's also carries what
// Temporal's core tells: the core serves that itself, on a port only this process knows, and it is
// handed on from there. Why: docs/decisions.md, 17.

import { get } from 'node:http';
import type { Meters } from '../meters';
import type { Logger } from '../telemetry';
import { listen } from './server';

interface MetricsServer {
  /** Null: no port was asked for, no metrics are served. */
  readonly port: number | null;
  close(): Promise<void>;
}

interface MetricsOptions {
  readonly meters: Meters;
  readonly log: Logger;
  readonly host: string;
  readonly port: number | null;
  /** Brings figures up to date that are not counted as they happen. */
  readonly refresh?: () => Promise<void>;
  /** The core's own server. */
  readonly corePort?: number | null;
}

export async function serveMetrics(options: MetricsOptions): Promise<MetricsServer> {
  const { host, port, meters, log } = options;
  if (port === null) return { port, close: async () => undefined };
  const type = meters.registry.contentType;
  const server = await listen(
    (request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      metricsText(options).then(
        (text) => response.writeHead(200, { 'content-type': type }).end(text),
        () => response.writeHead(500).end(),
      );
    },
    host,
    port,
    'METRICS_PORT',
  );
  log.info({ event: 'metrics_served', port: server.port }, `metrics on port ${server.port}`);
  return server;
}

async function metricsText({ meters, refresh, corePort }: MetricsOptions): Promise<string> {
  const [core] = await Promise.all([corePort ? coreText(corePort) : '', refresh?.()]);
  return `${await meters.registry.metrics()}${core}`;
}

const coreTimeoutMs = 2_000;

/** A core that does not answer costs its own figures, not ours. */
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
