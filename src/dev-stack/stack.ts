// Runs the whole system as separate processes: PostgreSQL, Temporal, studio, worker, API and console. If the
// settings contain the address of a PostgreSQL or Temporal server, that server is used and none is
// started. `npm start` runs the system for users. The system tests also run the system, and stop
// parts of it.

import { join, resolve } from 'node:path';
import { checkChannelKeys, loadCatalogueOf } from '../commands/load-catalogue';
import { readConfig } from '../config/config';
import type { Environment } from '../config/secret-files';
import { stopAllChildren } from '../embedded/child';
import { type Demo, type Owner, secretsOf } from './demo-account';
import { type DevFile, keepDevFile, removeDevFile, settingsFor } from './dev-file';
import { type Started, stackEnvironment } from './environment';
import { lockStack } from './lock';
import { openLogs } from './logs';
import {
  type PartName,
  type ProcessKind,
  processPart,
  type Site,
  type StackOptions,
  startPart,
} from './parts';
import { choosePorts } from './ports';
import { silent } from './progress';
import { checkGiven, startDatabase, startTemporalServer } from './servers';
import { setAside } from './set-aside';
import type { Part } from './supervised-process';

export interface Stack {
  /** The same content as in dev.json. */
  readonly addresses: DevFile;
  readonly parts: ReadonlyMap<string, Part>;
  part(name: string): Part;
  /**
   * Returns one more process of this kind, under a new name. The caller has to start the process.
   * `stop` also stops this process. `program` names the file that each start runs, by default that of
   * this version.
   */
  another(
    name: string,
    kind: ProcessKind,
    environment?: Record<string, string>,
    program?: () => string,
  ): Part;
  stop(): Promise<void>;
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  const progress = options.progress ?? silent;
  const lock = await lockStack(dataDir, options.onGivenUp);
  if (options.setAside) await setAside(dataDir, progress.line);
  await removeDevFile(dataDir);
  const without = new Set<string>(options.without);
  const has = (name: PartName) => !without.has(name);
  const logs = openLogs(join(dataDir, 'logs'), progress.line);
  const parts = new Map<string, Part>();
  try {
    const ports = await choosePorts(dataDir, wishesOf(options.environment, has));
    const site: Site = {
      ...{ options, dataDir, progress, lock, logs, ports, parts, has },
      onPartStarted: () => undefined,
    };
    const addresses = await startParts(site);
    const file = keepDevFile(dataDir, () => ({ ...addresses, pids: pidsOf(parts) }));
    // On a full disk the file keeps old ids of processes; the stack goes on.
    site.onPartStarted = () => void file.renew().catch(() => undefined);
    await file.renew();
    return {
      addresses,
      parts,
      part: (name) => partOf(parts, name),
      another: (name, kind, environment = {}, program) =>
        processPart(site, name, kind, { ...settingsFor(kind, addresses), ...environment }, program),
      async stop() {
        await file.remove();
        await stopStack(site);
      },
    };
  } catch (error) {
    // A supervised part starts its process again when the process ends. So the parts are stopped
    // too.
    const stopped = Array.from(parts.values(), (part) => part.stop());
    await Promise.all([stopAllChildren(5_000), ...stopped]);
    await logs.close();
    lock.release();
    throw error;
  }
}

async function startParts(site: Site): Promise<DevFile> {
  const { dataDir, ports, options } = site;
  const secrets = await secretsOf(dataDir);
  const settings = stackEnvironment(
    options.environment,
    dataDir,
    ports,
    secrets,
    options.receivers,
  );
  const config = readConfig('dev', { ...options.environment, ...settings });
  const catalogue = await loadCatalogueOf(config);
  if (site.has('worker')) checkChannelKeys(config, catalogue);
  await checkGiven(site, config);
  const studio = startPart(site, 'studio', () => processPart(site, 'studio', 'studio', settings));
  const [{ demo, owner, ...database }, temporal] = await Promise.all([
    startDatabase(site, config),
    startTemporalServer(site, config),
    studio,
  ]);
  const started: Started = { ...database, ...temporal };
  const environment = { ...settings, ...environmentOf(started) };
  const file = devFileOf(site, environment, started, { demo, owner });
  const withMetrics = (kind: ProcessKind, port: number) => ({
    ...settingsFor(kind, file),
    METRICS_PORT: String(port),
  });
  await Promise.all([
    startPart(site, 'worker', () =>
      processPart(site, 'worker', 'worker', withMetrics('worker', ports.workerMetrics)),
    ),
    startPart(site, 'api', () =>
      processPart(site, 'api', 'api', withMetrics('api', ports.apiMetrics)),
    ),
    startPart(site, 'console', () =>
      processPart(site, 'console', 'console', { ...settingsFor('console', file) }),
    ),
  ]);
  return { ...file, pids: pidsOf(site.parts) };
}

async function stopStack({ parts, logs, lock }: Site): Promise<void> {
  // Each part stops before the servers that it needs.
  const all = [...parts.values()].reverse();
  const isServer = ({ name }: Part) => name === 'postgres' || name === 'temporal';
  const isApi = ({ name }: Part) => name.startsWith('api');
  await Promise.all(all.filter(isApi).map((part) => part.stop()));
  await Promise.all(all.filter((p) => !isApi(p) && !isServer(p)).map((part) => part.stop()));
  await Promise.all(all.filter(isServer).map((part) => part.stop()));
  await logs.close();
  lock.release();
}

function environmentOf({ apiDatabaseUrl, temporalAddress, temporalUi }: Started) {
  return {
    DATABASE_URL: apiDatabaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    ...(temporalUi ? { TEMPORAL_UI_URL: temporalUi } : {}),
  };
}

function devFileOf(
  { has, options, parts, ports }: Site,
  environment: Record<string, string>,
  { databaseUrl, workerDatabaseUrl, operatorDatabaseUrl, temporalAddress, temporalUi }: Started,
  { demo, owner }: { readonly demo: Demo; readonly owner: Owner },
): DevFile {
  const apiUrl = environment.PUBLIC_URL ?? '';
  return {
    apiUrl,
    ...demo,
    temporalAddress,
    temporalUi,
    databaseUrl,
    workerDatabaseUrl,
    operatorDatabaseUrl,
    consoleUrl: has('console') ? (environment.CONSOLE_URL ?? null) : null,
    consoleKey: owner.key,
    studioUrl:
      has('studio') || options.environment.STUDIO_URL ? (environment.STUDIO_URL ?? null) : null,
    studioApiKey: environment.STUDIO_API_KEY ?? '',
    docsUrl: `${apiUrl}/docs`,
    playgroundUrl: apiUrl,
    metricsUrls: {
      api: `http://127.0.0.1:${ports.apiMetrics}/metrics`,
      worker: `http://127.0.0.1:${ports.workerMetrics}/metrics`,
    },
    pids: pidsOf(parts),
    environment,
  };
}

function pidsOf(parts: ReadonlyMap<string, Part>): Record<string, number> {
  const running = [...parts].flatMap(([name, { pid }]) => (pid === null ? [] : [[name, pid]]));
  return { stack: process.pid, ...Object.fromEntries(running) };
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
  const operators = {
    setting: 'CONSOLE_PORT',
    host: given.CONSOLE_HOST || '127.0.0.1',
    port: Number(given.CONSOLE_PORT || (given.PORT === '0' ? 0 : 8085)),
  };
  return {
    api: { ...api, mustBeFree: has('api') },
    console: { ...operators, mustBeFree: has('console') },
    studio: { ...studio, mustBeFree: has('studio') },
  };
}

function partOf(parts: ReadonlyMap<string, Part>, name: string): Part {
  const part = parts.get(name);
  if (!part) throw new Error(`The stack has no part "${name}".`);
  return part;
}
