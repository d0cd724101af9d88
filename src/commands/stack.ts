// The whole system as separate processes: PostgreSQL and Temporal where none are given, studio, worker, API. `npm start`
// shows it to people, and the system tests start the same thing and then take it apart piece by piece.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { searchAttributes } from '../../workflows/search-attributes';
import type { Environment } from '../config';
import { connect, migrate } from '../db/database';
import { startChild, stopAllChildren, untilReady } from '../embedded/child';
import { startPostgres } from '../embedded/postgres';
import { startTemporal } from '../embedded/temporal';
import { findTemporal } from '../embedded/temporal-binary';
import { type Demo, demoOf, secretsOf } from './demo-account';
import { type DevFile, removeDevFile, writeDevFile } from './dev-file';
import { type Progress, silent } from './progress';
import { projectFolder } from './project';
import { type Started, stackEnvironment } from './stack-environment';
import { lockStack, type StackLock } from './stack-lock';
import { openLogs, type StackLogs } from './stack-logs';
import { createPart, type Launched, type Part } from './stack-part';
import { choosePorts, type Ports } from './stack-ports';
import { checkTemporal } from './temporal-check';

export const partNames = ['postgres', 'temporal', 'studio', 'worker', 'api'] as const;
export type PartName = (typeof partNames)[number];
export type ProcessKind = 'studio' | 'worker' | 'api';

export interface StackOptions {
  readonly dataDir: string;
  /** What was set from outside; PORT=0 takes any free port. */
  readonly environment: Environment;
  readonly without?: readonly PartName[];
  /** Parts that die are started again; tests rather do that themselves. */
  readonly supervised?: boolean;
  readonly progress?: Progress;
  readonly onGivenUp?: (error: Error) => void;
}

export interface Stack {
  /** As in dev.json. */
  readonly addresses: DevFile;
  readonly parts: ReadonlyMap<string, Part>;
  part(name: string): Part;
  /** One more process of a kind, with a name of its own; started by the caller, stopped with the rest. */
  another(name: string, kind: ProcessKind, environment?: Record<string, string>): Part;
  stop(): Promise<void>;
}

/** What every step of the start needs. */
interface Site {
  readonly options: StackOptions;
  readonly dataDir: string;
  readonly progress: Progress;
  readonly lock: StackLock;
  readonly logs: StackLogs;
  readonly ports: Ports;
  readonly parts: Map<string, Part>;
  has(name: PartName): boolean;
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  const progress = options.progress ?? silent;
  const lock = await lockStack(dataDir, progress.line);
  await removeDevFile(dataDir);
  const without = new Set<string>(options.without);
  const has = (name: PartName) => !without.has(name);
  const logs = openLogs(join(dataDir, 'logs'), progress.line);
  const parts = new Map<string, Part>();
  try {
    const ports = await choosePorts(dataDir, wishesOf(options.environment, has));
    const site = { options, dataDir, progress, lock, logs, ports, parts, has };
    const addresses = await startParts(site);
    await writeDevFile(dataDir, addresses);
    return {
      addresses,
      parts,
      part: (name) => partOf(parts, name),
      another: (name, kind, environment = {}) =>
        processPart(site, name, kind, { ...addresses.environment, ...environment }),
      stop: () => stopStack(site),
    };
  } catch (error) {
    await stopAllChildren(5_000);
    await logs.close();
    lock.release();
    throw error;
  }
}

async function startParts(site: Site): Promise<DevFile> {
  const { dataDir, ports, options, progress } = site;
  const secrets = await secretsOf(dataDir);
  const settings = stackEnvironment(options.environment, dataDir, ports, secrets);
  const studio = start(site, 'studio', () => processPart(site, 'studio', 'studio', settings));
  const [{ databaseUrl, demo }, temporal] = await Promise.all([
    startDatabase(site, settings.API_KEY_PEPPER ?? ''),
    startEngine(site),
    studio,
  ]);
  const started: Started = { databaseUrl, ...temporal };
  const environment = { ...settings, ...environmentOf(started) };
  const withMetrics = (port: number) => ({ ...environment, METRICS_PORT: String(port) });
  await Promise.all([
    start(site, 'worker', () =>
      processPart(site, 'worker', 'worker', withMetrics(ports.workerMetrics)),
    ),
    start(site, 'api', () => processPart(site, 'api', 'api', withMetrics(ports.apiMetrics))),
  ]);
  const file = devFileOf(site, environment, started, demo);
  if (site.has('api')) {
    await progress.step('waiting for the API to be ready', () => untilOk(`${file.apiUrl}/readyz`));
  }
  return file;
}

async function startDatabase(site: Site, pepper: string) {
  const given = site.options.environment.DATABASE_URL;
  let databaseUrl = given || '';
  if (!given && site.has('postgres')) {
    const dataDir = join(site.dataDir, 'postgres');
    const launch = async () => {
      const server = await startPostgres({
        dataDir,
        port: site.ports.postgres,
        maxConnections: 200,
      });
      databaseUrl = server.url;
      return server;
    };
    await start(site, 'postgres', () => newPart(site, 'postgres', launch), 'PostgreSQL');
  }
  if (!databaseUrl)
    throw new Error('Without postgres, DATABASE_URL has to say where there is one.');
  const log = { warn: site.progress.line, error: site.progress.line };
  const db = connect({ url: databaseUrl, poolMax: 2, applicationName: 'npm start', log });
  try {
    const demo = await site.progress.step('migrating the database', async (say) => {
      const applied = await migrate(db);
      say(
        applied.length > 0
          ? `database migrated: ${applied.length} steps`
          : 'database is up to date',
      );
      return demoOf(site.dataDir, db, pepper);
    });
    return { databaseUrl, demo };
  } finally {
    await db.destroy();
  }
}

async function startEngine(site: Site): Promise<Omit<Started, 'databaseUrl'>> {
  const { environment: given } = site.options;
  if (given.TEMPORAL_ADDRESS) {
    const address = given.TEMPORAL_ADDRESS;
    await site.progress.step(`looking for Temporal at ${address}`, () => checkTemporal(given));
    return { temporalAddress: address, temporalUi: given.TEMPORAL_UI_URL || null };
  }
  if (!site.has('temporal')) {
    throw new Error('Without temporal, TEMPORAL_ADDRESS has to say where there is one.');
  }
  const { path } = await site.progress.step('looking for the Temporal server', async (say) => {
    const binary = await findTemporal(given.TEMPORAL_CLI || undefined);
    say(`Temporal server: ${binary.found}`);
    return binary;
  });
  const launch = () =>
    startTemporal({
      binary: path,
      databaseFile: join(site.dataDir, 'temporal', 'temporal.db'),
      port: site.ports.temporal,
      uiPort: site.ports.temporalUi,
      ui: true,
      searchAttributes: searchAttributes.map(({ name }) => name),
    });
  await start(site, 'temporal', () => newPart(site, 'temporal', launch), 'Temporal');
  return {
    temporalAddress: `127.0.0.1:${site.ports.temporal}`,
    temporalUi: `http://127.0.0.1:${site.ports.temporalUi}`,
  };
}

async function start(
  site: Site,
  name: PartName,
  make: () => Part,
  title: string = name,
): Promise<void> {
  if (!site.has(name)) return;
  const part = make();
  await site.progress.step(`starting ${title}`, async (say) => {
    await part.start();
    say(`${title} is ready`);
  });
}

function newPart(site: Site, name: string, launch: () => Promise<Launched>): Part {
  const { options, lock, logs, progress, parts } = site;
  const part = createPart({
    name,
    launch,
    supervised: options.supervised ?? false,
    onStarted: (pid) => lock.note(name, pid),
    onEnded: () => lock.forget(name),
    onDeath: ({ how, lastWords, againInMs }) => {
      logs.take(name, lastWords);
      const next = againInMs === null ? '' : `; it is started again in ${againInMs / 1000} s`;
      const why = lastWords.split('\n').at(-1)?.slice(0, 300);
      progress.line(`${name} ${how}${next}${how.includes('killed') ? '' : `\n  ${why ?? ''}`}`);
    },
    onBack: () => progress.line(`${name} is back`),
    onGivenUp: (error) => options.onGivenUp?.(error),
  });
  parts.set(name, part);
  return part;
}

/** A process of ours tells over its channel that it is ready, and ends when the channel does. */
function processPart(
  site: Site,
  name: string,
  kind: ProcessKind,
  environment: Record<string, string>,
): Part {
  return newPart(site, name, async () => {
    let isReady = false;
    const child = startChild(process.execPath, {
      args: ['--enable-source-maps', mainFile(), kind],
      env: { ...site.options.environment, ...environment, LOG_FORMAT: 'json' },
      cwd: projectFolder(),
      onLine: (line) => site.logs.take(name, line),
      onMessage: (message) => {
        isReady ||= message === 'ready';
      },
    });
    await untilReady(name, child, async () => isReady, 60_000);
    return { child, stop: () => child.stop('SIGTERM', stopWithinMs) };
  });
}

// Five seconds each for API and worker, one after the other, and three for the rest: below the 15 that a stop may take.
const stopWithinMs = 5_000;

async function stopStack({ dataDir, parts, logs, lock }: Site): Promise<void> {
  await removeDevFile(dataDir);
  // What takes work goes first, what others stand on goes last.
  const all = [...parts.values()].reverse();
  const isServer = ({ name }: Part) => name === 'postgres' || name === 'temporal';
  const isApi = ({ name }: Part) => name.startsWith('api');
  await Promise.all(all.filter(isApi).map((part) => part.stop()));
  await Promise.all(all.filter((p) => !isApi(p) && !isServer(p)).map((part) => part.stop()));
  await Promise.all(all.filter(isServer).map((part) => part.stop()));
  await logs.close();
  lock.release();
}

function environmentOf({ databaseUrl, temporalAddress, temporalUi }: Started) {
  return {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    ...(temporalUi ? { TEMPORAL_UI_URL: temporalUi } : {}),
  };
}

function devFileOf(
  { has, parts, ports }: Site,
  environment: Record<string, string>,
  { databaseUrl, temporalAddress, temporalUi }: Started,
  demo: Demo,
): DevFile {
  const apiUrl = environment.PUBLIC_URL ?? '';
  const running = [...parts].flatMap(([name, { pid }]) => (pid === null ? [] : [[name, pid]]));
  return {
    apiUrl,
    ...demo,
    temporalAddress,
    temporalUi,
    databaseUrl,
    studioUrl: has('studio') ? (environment.STUDIO_URL ?? null) : null,
    studioApiKey: environment.STUDIO_API_KEY ?? '',
    docsUrl: `${apiUrl}/docs`,
    playgroundUrl: apiUrl,
    metricsUrls: {
      api: `http://127.0.0.1:${ports.apiMetrics}/metrics`,
      worker: `http://127.0.0.1:${ports.workerMetrics}/metrics`,
    },
    pids: { stack: process.pid, ...Object.fromEntries(running) },
    environment,
  };
}

function wishesOf(given: Environment, has: (name: PartName) => boolean) {
  const api = {
    setting: 'PORT',
    host: given.HOST || '127.0.0.1',
    port: Number(given.PORT || 8080),
  };
  const studio = {
    setting: 'STUDIO_PORT',
    host: given.STUDIO_HOST || '127.0.0.1',
    port: Number(given.STUDIO_PORT || 0),
  };
  return {
    api: has('api') ? ({ ...api } as const) : null,
    studio: has('studio') ? studio : null,
  } as Parameters<typeof choosePorts>[1];
}

function partOf(parts: ReadonlyMap<string, Part>, name: string): Part {
  const part = parts.get(name);
  if (!part) throw new Error(`The stack has no part "${name}".`);
  return part;
}

async function untilOk(url: string): Promise<void> {
  const until = Date.now() + 60_000;
  let last = '';
  while (Date.now() < until) {
    try {
      const reply = await fetch(url);
      last = await reply.text();
      if (reply.ok) return;
    } catch (error) {
      last = String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} did not become ready within a minute: ${last}`);
}

/** From source (tests) or from dist, the processes themselves always run from dist. */
function mainFile(): string {
  const file = join(projectFolder(), 'dist', 'src', 'main.js');
  if (!existsSync(file)) throw new Error(`${file} is missing: run "npm run build" first.`);
  return file;
}
