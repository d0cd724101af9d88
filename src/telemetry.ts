// The logger and the metrics registry. A log line is one JSON object per event; what must never be read in a log
// (keys, secrets, prompts, the query string of an address) is cut out here, whatever hands it in.

import { createServer } from 'node:http';
import { type LoggerOptions, type Logger as PinoLogger, pino } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';

export type Logger = PinoLogger;

export interface LogSettings {
  readonly level: string;
  readonly format: 'json' | 'pretty';
  /** Which process of the system writes. */
  readonly name: string;
}

export function createLogger({ level, format, name }: LogSettings): Logger {
  const options: LoggerOptions = {
    level,
    base: { name, pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: '[redacted]' },
    serializers: { err: pino.stdSerializers.err, url: withoutQuery, callbackUrl: withoutQuery },
  };
  if (format === 'json') return pino(options);
  return pino(options, prettyStream());
}

function prettyStream() {
  const { build } = require('pino-pretty') as typeof import('pino-pretty');
  return build({ colorize: process.stdout.isTTY, ignore: 'pid', translateTime: 'SYS:HH:MM:ss' });
}

const secrets = [
  'authorization',
  'apiKey',
  'api_key',
  'secret',
  'webhookSecret',
  'pepper',
  'password',
  'databaseUrl',
  'prompt',
];

// Two levels deep is where our own log calls put things; nothing is logged whole.
const redacted = secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

function withoutQuery(url: unknown): unknown {
  return typeof url === 'string' ? url.replace(/[?#].*$/s, '?…') : url;
}

/** The registry every metric of a process is in, with Node's own figures (memory, event loop, open handles). */
export function createMetrics(name: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process: name });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Serves a registry on a port of its own, apart from what callers can reach; without a port there is none. */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number | null,
): Promise<() => Promise<void>> {
  if (port === null) return async () => undefined;
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return () => new Promise((resolve) => server.close(() => resolve()));
}
