// Runs a real Temporal development server with its Web UI as a child process. If a database file is
// given, the state survives a kill of the server. Another program may have taken the chosen port,
// so the start checks that our server answers there.

import { mkdir } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { type Child, startChild, untilReady } from './child';
import { freePorts } from './ports';

export interface EmbeddedTemporal {
  readonly address: string;
  readonly port: number;
  readonly uiPort: number;
  readonly child: Child;
  stop(): Promise<void>;
}

interface TemporalOptions {
  readonly binary: string;
  /** Without this option, the server keeps its state in memory only. */
  readonly databaseFile?: string;
  readonly port?: number;
  readonly uiPort?: number;
  /** True if other ports may replace `port` and `uiPort` when these are in use. */
  readonly portsMayMove?: boolean;
  readonly ui: boolean;
  readonly searchAttributes: readonly string[];
  /** Called with each line that the server writes. */
  readonly onLine?: (line: string) => void;
}

const triesMax = 4;

/** Starts the server again with new ports if another program took one of its ports first. */
export async function startTemporal(options: TemporalOptions): Promise<EmbeddedTemporal> {
  const { port: _port, uiPort: _uiPort, ...moved } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce(tries > 1 && options.portsMayMove ? moved : options);
    } catch (error) {
      if (tries === triesMax || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

async function startOnce(options: TemporalOptions): Promise<EmbeddedTemporal> {
  const [freePort = 0, freeUi = 0] = await freePorts(2);
  const [metrics = 0, http = 0] = await freePorts(2, 'own');
  const port = options.port ?? freePort;
  const uiPort = options.uiPort ?? freeUi;
  if (options.databaseFile) await mkdir(dirname(options.databaseFile), { recursive: true });
  // A name without a folder is looked up in PATH.
  const isName = basename(options.binary) === options.binary;
  const child = startChild(isName ? options.binary : resolve(options.binary), {
    // The server takes some characters of a path for parts of an address, so it gets only a name.
    ...(options.databaseFile ? { cwd: dirname(options.databaseFile) } : {}),
    ...(options.onLine ? { onLine: options.onLine } : {}),
    args: [
      'server',
      'start-dev',
      ...['--ip', '127.0.0.1', '--port', String(port), '--http-port', String(http)],
      ...['--metrics-port', String(metrics), '--log-level', 'error'],
      ...(options.ui ? ['--ui-port', String(uiPort)] : ['--headless']),
      ...(options.databaseFile ? durably(options.databaseFile) : []),
      ...options.searchAttributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ...Object.entries(dynamicConfig).flatMap(([name, value]) => [
        '--dynamic-config-value',
        `${name}=${String(value)}`,
      ]),
    ],
  });
  const address = `127.0.0.1:${port}`;
  const ready = async () => (await answers(address)) && (await isOurs(metrics));
  await untilReady('Temporal', child, ready, 60_000);
  return {
    address,
    port,
    uiPort,
    child,
    stop: () => child.stop('SIGTERM', 8_000),
  };
}

// With a write-ahead log the server starts a third more tasks per second. With
// `synchronous=normal`, a kill of the server still loses nothing.
const durably = (file: string) => [
  ...['--db-filename', basename(file)],
  ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'],
];

// Fairness between accounts needs the first two switches. The other values raise limits that are
// meant for clusters with many tenants.
export const dynamicConfig = {
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
  'frontend.namespaceRPS': 20_000,
  'frontend.namespaceCount': 20_000,
  'frontend.rps': 20_000,
  'history.rps': 50_000,
  'matching.rps': 50_000,
};

async function answers(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: '1s' });
  try {
    await connection.workflowService.describeNamespace({ namespace: 'default' });
    return true;
  } finally {
    await connection.close();
  }
}

/**
 * True if our server runs. Another server may have taken the port of our server, but such a server
 * probably does not answer at our metrics port.
 */
async function isOurs(metricsPort: number): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  await reply.body?.cancel();
  return reply.ok;
}
