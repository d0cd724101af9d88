// Starts the API with a real database and with a Temporal client that the test controls. `openTask`
// is real, and every other step of a workflow is left to the test. The system tests cover the whole
// service.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { createKey } from '../../src/accounts/keys.rows';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { connect } from '../../src/database/database';
import type { Submission, TemporalClient } from '../../src/engine/client';
import { openDirectory } from '../../src/files/storage/directory';
import type { Storage } from '../../src/files/storage/storage';
import type { FinishedRequest } from '../../src/gateway/deps';
import { closeTask, openTask } from '../../src/money/ledger.rows';
import { createAccount } from '../../src/money/new-account.rows';
import { taskObject } from '../../src/tasks/task.rules';
import type { TaskInput } from '../../src/tasks/task-transactions.rules';
import { findTask as findTaskRow } from '../../src/tasks/tasks.rows';
import { theCatalogue } from './catalogue';
import { type Cutter, startCutter } from './cutter';
import { createTestDatabase, type TestDatabase } from './database';
import { type SettingsInTest, serveApi } from './serve-api';
import { call, type Reply } from './service';
import { starting } from './starting';

export const create = '/v1/videos/generations';
export const textBody = { model: 'studio-2.0', prompt: 'a lighthouse at dusk' };

/** A Temporal client that a test controls. It records the calls that it received. */
interface HeldTemporal extends TemporalClient {
  answer: 'accept' | 'unanswered';
  /** If set, each start of a workflow waits for this promise. */
  gate: Promise<void> | undefined;
  readonly submitted: TaskInput[];
  readonly cancelled: string[];
  /** Tasks whose workflow was asked, and its answer. */
  readonly asked: string[];
  tells: TemporalClient['ask'];
  /** What the test of a webhook answers. */
  tests: TemporalClient['testWebhook'];
  reachable: boolean;
}

export interface TestApi {
  readonly url: string;
  readonly database: TestDatabase;
  readonly db: Knex;
  /** The API's own connections, with the database role of the service. */
  readonly apiDb: Knex;
  readonly temporal: HeldTemporal;
  /** The storage of the API, which is a directory. */
  readonly storage: Storage;
  readonly accountId: string;
  readonly apiKey: string;
  readonly requests: FinishedRequest[];
  /** Errors that the API reported as its own faults. */
  readonly failures: unknown[];
  /** The ids of stored files that were found without bytes. */
  readonly withoutBytes: string[];
  /** Milliseconds that are added to both clocks of the API. */
  clock: number;
  /** Milliseconds that are added only to the wall clock, as if an operator had changed it. */
  wallStep: number;
  serving: boolean;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  /** Like `call` for a create. Both wait until the workflow of a new task has opened the task. */
  create(body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>;
  anAccount(creditMicros?: number): Promise<{ accountId: string; apiKey: string }>;
  aKey(limits: {
    models?: string[];
    channels?: string[];
    expiresAt?: Date;
  }): Promise<{ keyId: string; apiKey: string }>;
  /** Waits until a pending task is opened or has ended, unless Temporal does not answer. */
  opened(taskId: unknown): Promise<void>;
  /** Ends a task by `closeTask`. */
  finish(taskId: string, text?: string): Promise<void>;
  close(): Promise<void>;
}

export const startApi = (...given: Parameters<typeof openApi>): Promise<TestApi> =>
  starting(() => openApi(...given));

async function openApi(
  settings: SettingsInTest = {},
  catalogue: () => Catalogue = theCatalogue,
  /** The database of another test API. That API drops the database. */
  shared?: TestDatabase,
  /** Starts a proxy for the API's connections and returns the proxy's address. */
  through: (databaseUrl: string) => Promise<string> = async (url) => url,
): Promise<TestApi> {
  const database = shared ?? (await createTestDatabase(10));
  const { db } = database;
  const apiUrl = await through(database.apiUrl);
  const isDirect = apiUrl === database.apiUrl;
  const apiDb = connect({ url: apiUrl, poolMax: isDirect ? 10 : 1, applicationName: 'api' });
  const folder = await mkdtemp(join(tmpdir(), 'video-files-'));
  const storage = await openDirectory(folder);
  const temporal = heldTemporal(db);
  const credit = 1_000_000_000_000;
  const account = await createAccount(db, { name: 'a', creditMicros: credit });
  const known = catalogue();
  const requests: FinishedRequest[] = [];
  const failures: unknown[] = [];
  const withoutBytes: string[] = [];
  const api: Partial<TestApi> & { clock: number; wallStep: number; serving: boolean } = {
    clock: 0,
    wallStep: 0,
    serving: true,
  };
  const now = () => Date.now() + api.clock + api.wallStep;
  // This clock stands still unless a test moves it, so no rate limit refills on a slow machine.
  const elapsed = () => 1_000_000 + api.clock;
  // The starter polls once a second. It has its own connection, because tests count the statements
  // of calls.
  const starterDb = isDirect
    ? connect({ url: apiUrl, poolMax: 1, applicationName: 'starter' })
    : apiDb;
  const served = await serveApi({
    db: apiDb,
    starterDb,
    storage,
    temporal,
    catalogue: () => known,
    now,
    elapsed,
    isServing: () => api.serving,
    observer: {
      finished: (request) => void requests.push(request),
      fileWithoutBytes: (id) => void withoutBytes.push(id),
      failed: (error) => void failures.push(error),
    },
    settings: () => settings,
  });
  const { url } = served;
  const findTask = (id: string) => findTaskRow(db, id);
  const opened = async (taskId: unknown) => {
    const mayOpen = () => temporal.answer === 'accept' && !temporal.gate;
    while (typeof taskId === 'string' && taskId.startsWith('task_') && mayOpen()) {
      if ((await findTask(taskId))?.live?.stage !== 'accepted') return;
      await pause(5);
    }
  };
  const methods: Omit<TestApi, 'clock' | 'wallStep' | 'serving'> = {
    url,
    database,
    db,
    apiDb,
    storage,
    temporal,
    accountId: account.accountId,
    apiKey: account.apiKey,
    requests,
    failures,
    withoutBytes,
    opened,
    async call(method, path, body, headers) {
      const reply = await call(url, account.apiKey, method, path, body, headers);
      if (method === 'POST' && reply.status === 200) await opened(reply.json?.id);
      return reply;
    },
    create: (body = {}, headers) => methods.call('POST', create, { ...textBody, ...body }, headers),
    anAccount: (creditMicros = credit) => createAccount(db, { name: 'another', creditMicros }),
    aKey: ({ models, channels, expiresAt }) =>
      createKey(db, {
        accountId: account.accountId,
        name: 'limited',
        ...(models ? { models } : {}),
        ...(channels ? { channels } : {}),
        ...(expiresAt ? { expiresAt } : {}),
      }),
    async finish(taskId, text = 'cancelled by the caller') {
      await opened(taskId);
      const { plan, labels } = temporal.submitted.find((input) => input.taskId === taskId)!;
      const fixed = { id: taskId, traceId: 't', model: plan.model, createdAt: 1_763_712_000 };
      const identity = { ...fixed, ...(labels ? { labels } : {}) };
      const object = taskObject(identity, {
        status: 'failed',
        finishedAt: 1_763_712_060,
        error: { code: 'task_error', message: text },
      });
      await closeTask(db, { taskId, object, charge: [], heldMicros: plan.hold.amountMicros });
    },
    async close() {
      await served.close();
      await starterDb.destroy();
      await apiDb.destroy();
      if (!shared) await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return Object.assign(api, methods) as TestApi;
}

/** An API whose connections to the database can be cut. */
export async function startCutApi(): Promise<{ api: TestApi; cutter: Cutter }> {
  let cutter: Cutter | undefined;
  const api = await startApi({}, undefined, undefined, async (url) => {
    cutter = await startCutter(url);
    return cutter.url;
  });
  return { api, cutter: cutter! };
}

function heldTemporal(db: Knex): HeldTemporal {
  const temporal: HeldTemporal = {
    answer: 'accept',
    gate: undefined,
    submitted: [],
    cancelled: [],
    asked: [],
    tells: () => null,
    tests: async () => null,
    reachable: true,
    async submit(input): Promise<Submission> {
      temporal.submitted.push(input);
      await temporal.gate;
      if (temporal.answer === 'unanswered') {
        return { outcome: 'unanswered', error: new Error('Temporal is away.') };
      }
      // The first step of the task's workflow.
      await openTask(db, input);
      return { outcome: 'started' };
    },
    ask: (taskId) => {
      temporal.asked.push(taskId);
      return temporal.tells(taskId);
    },
    async cancel(taskId) {
      if (!temporal.reachable) return 'unavailable';
      temporal.cancelled.push(taskId);
      return 'asked';
    },
    testWebhook: (id) => temporal.tests(id),
    isReady: async () => temporal.reachable,
    close: async () => undefined,
  };
  return temporal;
}
