// Starts a Temporal cluster as an operator runs it. Each role is a process of its own; history and
// matching have two processes. The cluster has its own PostgreSQL. The programs are those of the
// release, not the development server. No process restarts by itself.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { openLogs, type StackLogs } from '../../src/dev-stack/logs';
import { createPart, type Launched, type Part } from '../../src/dev-stack/supervised-process';
import { startChild, untilReady } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import { startPostgres } from '../../src/embedded/postgres';
import {
  addressOf,
  configOf,
  dynamicFile,
  dynamicValues,
  processes,
  roleOf,
  type Site,
} from './cluster-configuration';
import { temporalPrograms } from './temporal-build';

export interface TemporalCluster {
  readonly address: string;
  /** The connection URL of the cluster's PostgreSQL. The user in the URL is a superuser. */
  readonly databaseUrl: string;
  /** The processes and their database, in the order in which they can be started. */
  readonly parts: ReadonlyMap<string, Part>;
  stop(): Promise<void>;
}

/**
 * Starts the cluster with 64 shards by default. Production needs more shards. Here a small number
 * is better, because each idle shard costs CPU.
 */
export async function startCluster({ historyShards = 64 } = {}): Promise<TemporalCluster> {
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
    const site = { folder, logs, database, historyShards, ports: await portsOfAll() };
    const address = addressOf(site, 'temporal-frontend');
    for (const name of processes) {
      parts.set(
        name,
        newPart(name, () => launchProcess(programs.server, site, name)),
      );
    }
    // The first process writes the cluster's metadata. If two processes did so at once, one would
    // exit.
    const [first, ...others] = processes;
    await parts.get(first)?.start();
    await Promise.all(others.map(async (name) => parts.get(name)?.start()));
    await createNamespace(address);
    return { address, databaseUrl: database.url.href, parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The data must survive a kill of the server, so `forgetful` is not set. */
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
    ...{ onStarted: nothing, onDeath: nothing },
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

const serviceNames: Readonly<Record<string, string>> = {
  frontend: 'temporal.api.workflowservice.v1.WorkflowService',
  history: 'temporal.api.workflowservice.v1.HistoryService',
  matching: 'temporal.api.workflowservice.v1.MatchingService',
};

/**
 * True if the process serves its metrics and its health check answers SERVING. The internal worker
 * has no health check.
 */
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

// The value of SERVING in gRPC's health protocol.
const servingStatus = 1;

/**
 * Waits until the namespace is usable: a frontend knows a new namespace only after some seconds.
 */
async function createNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  const { workflowService } = connection;
  const namespace = 'default';
  try {
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('7 days'),
    });
    for (const end = Date.now() + 60_000; ; await pause(100)) {
      const listed = workflowService.listSchedules({ namespace, maximumPageSize: 1 });
      if (await listed.then(() => true).catch(() => false)) return;
      if (Date.now() > end) throw new Error('The namespace is not known after a minute.');
    }
  } finally {
    await connection.close();
  }
}
