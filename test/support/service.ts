// Runs the whole service inside one test file, with its own database, studio, worker and API. The
// servers of PostgreSQL and Temporal are those of the test run. This is faster than separate
// processes, which the chaos tests use.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import type { ActivityEvents } from '../../activities/events';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { connect } from '../../src/database/database';
import type { Gathered } from '../../src/database/gathered';
import type { KeyRing } from '../../src/encryption/key-ring';
import { createTemporalClient } from '../../src/engine/client';
import { lazyConnection } from '../../src/engine/connection';
import { type RunningWorker, startWorker } from '../../src/engine/worker';
import { openDirectory } from '../../src/files/storage/directory';
import type { Storage } from '../../src/files/storage/storage';
import { createAccount } from '../../src/money/new-account.rows';
import { findTask as findTaskRow, type StoredTask } from '../../src/tasks/tasks.rows';
import { createStudio, type Studio } from '../../studio/server';

import { activitySettings } from './activity-settings';
import { parseCatalogue, pollIntervalMs } from './catalogue';
import { createTestDatabase, type TestDatabase } from './database';
import { type SettingsInTest, serveApi } from './serve-api';
import { starting } from './starting';
import { endLoops, temporalAddress, uniqueTaskQueue, workflowBundle } from './temporal';
import { until } from './until';

export interface Service {
  readonly url: string;
  readonly db: Knex;
  readonly databaseUrl: string;
  readonly studio: Studio;
  readonly storage: Storage;
  readonly studioKey: string;
  readonly apiKey: string;
  readonly accountId: string;
  readonly webhookSecret: string;
  readonly taskQueue: string;
  /** The catalogue of the API and of the worker; a test may replace either. */
  readonly catalogues: Record<'api' | 'worker', Catalogue>;
  /** All events of the activities, by name. */
  readonly events: { readonly name: string; readonly args: readonly unknown[] }[];
  /** Errors that the API or the worker reported as its own faults. */
  readonly failures: unknown[];
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** Sends a create, and waits until the worker has opened the new task. */
  create(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>;
  /** Polls until the task is final. */
  finished(id: string, withinMs?: number): Promise<TaskReply>;
  anAccount(credit?: number): Promise<{ accountId: string; apiKey: string; webhookSecret: string }>;
  startWorker(): Promise<RunningWorker>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests read answers of every shape; a wrong path fails the expectation.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly json: any;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
export type TaskReply = any;

interface ServiceOptions {
  readonly settings?: SettingsInTest;
  /** A database with rows, which the service drops at its end, and one of its accounts. */
  readonly known?: {
    readonly database: TestDatabase;
    readonly account: { readonly accountId: string; readonly apiKey: string };
  };
  readonly catalogue?: (catalogue: Catalogue) => Catalogue;
  readonly withoutWorker?: boolean;
  readonly allowHosts?: readonly string[];
  readonly reconcileIntervalSeconds?: number;
  readonly callbacksPerHost?: number;
  readonly activitySlots?: number;
  readonly copiesAtOnceMax?: number;
  /** Wraps the storage, so that a test can make it fail. */
  readonly storage?: (storage: Storage) => Storage;
  /** API keys of channels, by the name of their variable. All others have the studio's key. */
  readonly channelKeys?: Readonly<Record<string, string>>;
  /** A Temporal server of the test's own, which it may stop. */
  readonly temporalAddress?: string;
  /** The script of the studio for all jobs: a film costs seconds of the processor. */
  readonly script?: Readonly<Record<string, unknown>>;
  /** The keys that encrypt payloads in Temporal. */
  encryptionKeys?: KeyRing;
}

const studioKey = 'studio-key-for-tests';

export const startService = (options: ServiceOptions = {}): Promise<Service> =>
  starting(() => openService(options));

async function openService(options: ServiceOptions): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'video-service-'));
  const database = options.known?.database ?? (await createTestDatabase(20));
  // API and worker connect with their roles. The test itself connects as the owner.
  const connectTo = (url: string) => connect({ url, poolMax: 20, applicationName: 'service' });
  const apiDb = connectTo(database.apiUrl);
  const workerDb = connectTo(database.workerUrl);
  const studio = await createStudio({
    host: '127.0.0.1',
    port: 0,
    apiKey: studioKey,
    dataDir: join(folder, 'studio'),
    allowHosts: [],
    maxRunning: 1_000,
    maxRenders: 1,
  });
  if (options.script) await direct(studio.url, options.script);
  const studioHost = new URL(studio.url).host;
  const allowHosts = [studioHost, ...(options.allowHosts ?? [])];
  const catalogue = await testCatalogue(studio.url, options);
  const catalogues = { api: catalogue, worker: catalogue };
  const taskQueue = uniqueTaskQueue();
  const connection = lazyConnection({
    address: options.temporalAddress ?? temporalAddress(),
    namespace: 'default',
  });
  const temporal = createTemporalClient({
    connection,
    namespace: 'default',
    encryptionKeys: options.encryptionKeys ?? [],
    taskQueue,
  });
  const account = {
    webhookSecret: '',
    ...(options.known?.account ??
      (await createAccount(database.db, { name: 'test', creditMicros: 1_000_000_000_000 }))),
  };
  const failures: unknown[] = [];
  const directory = await openDirectory(join(folder, 'files'));
  const storage = options.storage?.(directory) ?? directory;
  const served = await serveApi({
    db: apiDb,
    storage,
    temporal,
    catalogue: () => catalogues.api,
    observer: { failed: (error) => void failures.push(error) },
    settings: (publicUrl) => ({
      publicUrl,
      dangerouslyAllowHosts: allowHosts,
      dangerouslyAllowProviderHosts: allowHosts,
      studioUrl: studio.url,
      ...options.settings,
    }),
  });
  const { url } = served;
  const findTask = (id: string) => findTaskRow(database.db, id);
  const events: { name: string; args: readonly unknown[] }[] = [];
  let worker: RunningWorker | undefined;
  const service: Service = {
    url,
    db: database.db,
    databaseUrl: database.url,
    studio,
    storage,
    studioKey,
    apiKey: account.apiKey,
    accountId: account.accountId,
    webhookSecret: account.webhookSecret,
    taskQueue,
    catalogues,
    events,
    failures,
    call: (method, path, body, headers) => call(url, account.apiKey, method, path, body, headers),
    async create(body, headers) {
      const reply = await service.call('POST', '/v1/videos/generations', body, headers);
      const mayOpen = worker !== undefined && options.temporalAddress === undefined;
      if (reply.status === 200 && mayOpen) await opened(findTask, reply.json.id);
      return reply;
    },
    finished: (id, withinMs = 120_000) => finished(service, id, withinMs),
    anAccount: (credit = 1_000_000_000) =>
      createAccount(database.db, { name: 'another', creditMicros: credit }),
    async startWorker() {
      worker = await startWorker(workerSettings(taskQueue, url, allowHosts, options), {
        db: workerDb,
        catalogue: () => catalogues.worker,
        channelKeys: (name) => options.channelKeys?.[name] ?? studioKey,
        events: recording(events),
        onSetupFault: (error) => failures.push(error),
        storage,
      });
      return worker;
    },
    async stopWorker() {
      await worker?.stop();
      worker = undefined;
    },
    async close() {
      await service.stopWorker();
      await served.close();
      const isOfRun = options.temporalAddress === undefined;
      if (isOfRun) await endLoops(new Client({ connection }), taskQueue);
      await temporal.close();
      await studio.close();
      await apiDb.destroy();
      await workerDb.destroy();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  if (!options.withoutWorker) await service.startWorker();
  return service;
}

async function direct(studioUrl: string, script: object): Promise<void> {
  const headers = { authorization: `Bearer ${studioKey}` };
  const body = JSON.stringify(script);
  const reply = await fetch(`${studioUrl}/admin/script`, { method: 'POST', headers, body });
  if (!reply.ok) throw new Error(await reply.text());
}

/** Waits until a task is opened or has ended, at most ten seconds: a test may keep it from that. */
async function opened(findTask: Gathered<StoredTask>, id: string): Promise<void> {
  const end = Date.now() + 10_000;
  while (Date.now() < end) {
    if ((await findTask(id))?.live?.stage !== 'accepted') return;
    await setTimeout(25);
  }
}

async function testCatalogue(studioUrl: string, options: ServiceOptions): Promise<Catalogue> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(join(__dirname, '../../catalogue.yaml'), 'utf8');
  const catalogue = parseCatalogue(text, { STUDIO_URL: studioUrl });
  const channels = Object.fromEntries(
    Object.entries(catalogue.channels).map(([id, channel]) => [id, { ...channel, pollIntervalMs }]),
  );
  const fast = { ...catalogue, channels };
  return options.catalogue?.(fast) ?? fast;
}

function workerSettings(
  taskQueue: string,
  publicUrl: string,
  allowHosts: readonly string[],
  options: ServiceOptions,
) {
  return {
    temporal: {
      address: options.temporalAddress ?? temporalAddress(),
      namespace: 'default',
      tls: false,
      taskQueue,
      encryptionKeys: options.encryptionKeys ?? [],
    },
    workflowBundle: workflowBundle(),
    cachedWorkflowsMax: 500,
    activitySlots: options.activitySlots ?? 50,
    callbackSlots: 20,
    reconcileIntervalSeconds: options.reconcileIntervalSeconds ?? 3_600,
    activities: {
      ...activitySettings,
      publicUrl,
      dangerouslyAllowHosts: [...allowHosts],
      dangerouslyAllowProviderHosts: [...allowHosts],
      callbacksPerHostMax: options.callbacksPerHost ?? 10,
      copiesAtOnceMax: options.copiesAtOnceMax ?? 20,
    },
    deployment: null,
  };
}

function recording(events: { name: string; args: readonly unknown[] }[]): ActivityEvents {
  return new Proxy({} as ActivityEvents, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        void events.push({ name: String(name), args }),
  });
}

export async function call(
  url: string,
  apiKey: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** Cancels a task. The API answers 503 if a busy Temporal takes long to store the cancel. */
export async function cancelTask(send: Service['call'], id: string | undefined): Promise<Reply> {
  for (let tries = 1; ; tries += 1) {
    const reply = await send('DELETE', `/v1/videos/generations/${id}`);
    if (reply.status !== 503 || tries === 20) return reply;
    await setTimeout(500);
  }
}

/** Reads again and again, because a held read (`Prefer: wait`) looks only once a second. */
async function finished(service: Service, id: string, withinMs: number): Promise<TaskReply> {
  let reply: TaskReply;
  await until(
    `the end of ${id}`,
    async () => {
      reply = (await service.call('GET', `/v1/videos/generations/${id}`)).json;
      return reply.status === 'succeeded' || reply.status === 'failed';
    },
    withinMs,
  ).catch((error) => {
    throw new Error(`${error.message} It is ${JSON.stringify(reply)}`);
  });
  return reply;
}

export function textTask(studio: Record<string, unknown> = {}, over: Record<string, unknown> = {}) {
  const { metadata, ...rest } = over as { metadata?: object };
  return {
    model: 'studio-2.0',
    prompt: 'a lighthouse at dusk',
    ratio: '16:9',
    ...rest,
    metadata: { ...metadata, studio: { render: 'none', ...studio } },
  };
}
