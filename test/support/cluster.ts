// A Temporal cluster as an operator runs it: each role a process of its own, two of history and two
// of matching, on a PostgreSQL of their own. The programs are those of the release, not the
// development server. No process restarts by itself.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { openLogs, type StackLogs } from '../../src/dev-stack/logs';
import { createPart, type Launched, type Part } from '../../src/dev-stack/supervised-process';
import { startChild, untilReady } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import { startPostgres } from '../../src/embedded/postgres';
import { dynamicConfig } from '../../src/embedded/temporal';
import { temporalPrograms } from './temporal-build';
import { until } from './until';

/** The processes by name; the part of a name before its number is the role. */
const processes = [
  'temporal-frontend',
  'temporal-history-1',
  'temporal-history-2',
  'temporal-matching-1',
  'temporal-matching-2',
  'temporal-worker',
] as const;
const roles = ['frontend', 'history', 'matching', 'worker'] as const;

// Fewer than an operator chooses: every shard polls its queues, and the test machine is small.
const historyShards = 64;

export interface TemporalCluster {
  readonly address: string;
  /** The processes and their database, in the order in which they can be started. */
  readonly parts: ReadonlyMap<string, Part>;
  stop(): Promise<void>;
}

interface Ports {
  /** Below 32,768, because the server keeps it as a 16-bit number. */
  readonly membership: number;
  readonly grpc: number;
  readonly metrics: number;
}

interface Site {
  readonly folder: string;
  readonly logs: StackLogs;
  readonly ports: ReadonlyMap<string, Ports>;
  readonly database: { readonly url: URL };
}

export async function startCluster(): Promise<TemporalCluster> {
  const programs = await temporalPrograms();
  const folder = await mkdtemp(join(tmpdir(), 'video-cluster-'));
  await chmod(folder, 0o711);
  const logs = openLogs(join(folder, 'logs'), () => undefined);
  const parts = new Map<string, Part>();
  const stop = async () => {
    const [database, ...others] = parts.values();
    await Promise.all(others.map((part) => part.stop()));
    await database?.stop();
    await logs.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const database = await startDatabase(folder, logs, parts);
    await createSchemas(programs.sqlTool, database.url);
    await writeFile(dynamicFile(folder), JSON.stringify(dynamicValues()));
    const site = { folder, logs, database, ports: await portsOfAll() };
    const address = addressOf(site, 'temporal-frontend');
    for (const name of processes) {
      parts.set(
        name,
        newPart(name, () => launchProcess(programs.server, site, name)),
      );
    }
    // The first process writes the cluster's metadata; another that does the same at once would end.
    const [first, ...others] = processes;
    await parts.get(first)?.start();
    await Promise.all(others.map(async (name) => parts.get(name)?.start()));
    await createNamespace(address);
    return { address, parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Data must survive a kill of the server, so commits are synchronous. */
async function startDatabase(
  folder: string,
  logs: StackLogs,
  parts: Map<string, Part>,
): Promise<Site['database']> {
  const name = 'temporal-postgres';
  const [port = 0] = await freePorts(1);
  const found = { url: new URL('postgres://none') };
  const launch = async () => {
    const server = await startPostgres({
      dataDir: join(folder, 'postgres'),
      port,
      maxConnections: 300,
      onLine: (line) => logs.take(name, line),
    });
    found.url = new URL(server.url);
    return server;
  };
  const part = newPart(name, launch);
  parts.set(name, part);
  await part.start();
  return found;
}

async function createSchemas(sqlTool: string, { port, username, password }: URL): Promise<void> {
  const access = ['--plugin', 'postgres12', '--ep', '127.0.0.1', '-p', port];
  const user = ['-u', username, '--pw', password];
  for (const [name, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    const tool = (...args: string[]) =>
      promisify(execFile)(sqlTool, [...access, ...user, '--db', name, ...args]);
    await tool('create-database');
    await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

async function portsOfAll(): Promise<Site['ports']> {
  const free = await freePorts(processes.length * 3);
  const take = () => free.pop() ?? 0;
  return new Map(
    processes.map((name) => [name, { membership: take(), grpc: take(), metrics: take() }]),
  );
}

function newPart(name: string, launch: () => Promise<Launched>): Part {
  const nothing = () => undefined;
  return createPart({
    ...{ name, launch, supervised: false },
    ...{ onStarted: nothing, onEnded: nothing, onDeath: nothing },
    ...{ onBack: nothing, onGivenUp: nothing },
  });
}

async function launchProcess(program: string, site: Site, name: string): Promise<Launched> {
  const file = join(site.folder, `${name}.yaml`);
  await writeFile(file, JSON.stringify(configOf(site, name)));
  const child = startChild(program, {
    args: ['--config-file', file, '--allow-no-auth', 'start', '--service', roleOf(name)],
    cwd: site.folder,
    onLine: (line) => site.logs.take(name, line),
  });
  await untilReady(name, child, () => isServing(site, name), 60_000);
  return { child, stop: () => child.stop('SIGTERM', 15_000) };
}

const roleOf = (name: string) => name.replace(/^temporal-|-\d$/g, '');
const addressOf = ({ ports }: Site, name: string) => `127.0.0.1:${ports.get(name)?.grpc}`;

/** The file of one process. JSON is YAML too. */
function configOf(site: Site, name: string): object {
  // Of the other roles only the names count: their processes are found by the membership table.
  const portsOf = (role: string) => {
    const one = role === roleOf(name) ? name : processes.find((other) => roleOf(other) === role);
    return site.ports.get(one ?? '');
  };
  const services = roles.map((role) => {
    const { grpc, membership } = portsOf(role) ?? {};
    const rpc = { grpcPort: grpc, membershipPort: membership, bindOnLocalHost: true };
    return [role, { rpc }];
  });
  const { url } = site.database;
  const sql = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: url.host,
      connectProtocol: 'tcp',
      user: url.username,
      password: url.password,
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  });
  const frontend = addressOf(site, 'temporal-frontend');
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: historyShards,
      datastores: { default: sql('temporal', 20), visibility: sql('temporal_visibility', 10) },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      metrics: { prometheus: { listenAddress: `127.0.0.1:${site.ports.get(name)?.metrics}` } },
    },
    services: Object.fromEntries(services),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          ...{ enabled: true, initialFailoverVersion: 1, rpcName: 'frontend' },
          rpcAddress: frontend,
        },
      },
    },
    publicClient: { hostPort: frontend },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile(site.folder), pollInterval: '10s' },
  };
}

const dynamicFile = (folder: string) => join(folder, 'dynamic.yaml');

const dynamicValues = () =>
  Object.fromEntries(Object.entries(dynamicConfig).map(([key, value]) => [key, [{ value }]]));

const serviceNames: Readonly<Record<string, string>> = {
  frontend: 'temporal.api.workflowservice.v1.WorkflowService',
  history: 'temporal.api.workflowservice.v1.HistoryService',
  matching: 'temporal.api.workflowservice.v1.MatchingService',
};

/** True if our process has its port, and answers that it serves. The internal worker answers no calls. */
async function isServing(site: Site, name: string): Promise<boolean> {
  const { metrics } = site.ports.get(name) ?? {};
  const reply = await fetch(`http://127.0.0.1:${metrics}/metrics`);
  await reply.body?.cancel();
  const service = serviceNames[roleOf(name)];
  if (!reply.ok || !service) return reply.ok;
  const connection = Connection.lazy({ address: addressOf(site, name) });
  try {
    const { status } = await connection.healthService.check({ service });
    return status === servingStatus;
  } finally {
    await connection.close();
  }
}

// SERVING of gRPC's health protocol.
const servingStatus = 1;

/** A frontend knows a new namespace after some seconds. */
async function createNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  const { workflowService } = connection;
  const namespace = 'default';
  try {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('7 days'),
    });
    const isKnown = () =>
      workflowService.listSchedules({ namespace, maximumPageSize: 1 }).then(
        () => true,
        () => false,
      );
    await until('the namespace is known', isKnown, 60_000);
  } finally {
    await connection.close();
  }
}
