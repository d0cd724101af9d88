// The API in front of a real database and an engine that a test holds in its hand: what it is given
// goes through the real first door, everything else a workflow would do is left to the test. The
// whole chain is the system tests' business.

import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type ApiSettings, createApp } from '../../src/api/app';
import type { FinishedRequest } from '../../src/api/requests';
import type { TaskObject } from '../../src/contract/task';
import { createAccount } from '../../src/db/accounts';
import { createKey } from '../../src/db/api-keys';
import { closeTask, openTask } from '../../src/db/ledger';
import { createTaskListener } from '../../src/db/task-listener';
import type { Catalogue } from '../../src/domain/catalogue';
import { createdTask, taskObject } from '../../src/domain/task';
import type { Engine, EngineTask, Submission } from '../../src/temporal';
import type { TaskInput } from '../../workflows/messages';
import { theCatalogue } from './catalogue';
import { createTestDatabase } from './database';
import { call, type Reply } from './service';

const testPepper = 'a pepper for tests';
export const create = '/v1/videos/generations';
export const textBody = { model: 'studio-2.0', prompt: 'a lighthouse at dusk' };

/** What the engine does with the next tasks, and what it saw. */
interface HeldEngine extends Engine {
  answer: 'accept' | 'pending' | 'unavailable' | 'unknown';
  /** Set: each submission waits for it. */
  gate: Promise<void> | undefined;
  readonly submitted: TaskInput[];
  readonly cancelled: string[];
  /** What live tasks answer when they are asked. */
  readonly live: Map<string, TaskObject>;
  /** Tasks without a row. */
  readonly pending: Map<string, EngineTask>;
  reachable: boolean;
}

export interface TestApi {
  readonly url: string;
  readonly db: Knex;
  readonly engine: HeldEngine;
  readonly accountId: string;
  readonly apiKey: string;
  readonly requests: FinishedRequest[];
  /** What the API answered as a fault of its own. */
  readonly failures: unknown[];
  clock: number;
  serving: boolean;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  create(body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>;
  anAccount(creditMicros?: number): Promise<{ accountId: string; apiKey: string }>;
  aKey(limits: {
    models?: string[];
    channels?: string[];
    expiresAt?: Date;
  }): Promise<{ keyId: string; apiKey: string }>;
  /** Ends a task through the second door and tells the readers that wait. */
  finish(taskId: string, text?: string): Promise<void>;
  close(): Promise<void>;
}

export async function startApi(
  settings: Partial<ApiSettings> = {},
  catalogue: () => Catalogue = theCatalogue,
): Promise<TestApi> {
  const { db, url: databaseUrl, drop } = await createTestDatabase(10);
  const engine = heldEngine(db);
  const listener = createTaskListener(databaseUrl, () => undefined);
  const credit = 1_000_000_000_000;
  const account = await createAccount(db, { name: 'a', pepper: testPepper, creditMicros: credit });
  const known = catalogue();
  const requests: FinishedRequest[] = [];
  const failures: unknown[] = [];
  const api: Partial<TestApi> & { clock: number; serving: boolean } = { clock: 0, serving: true };
  const app = createApp({
    db,
    engine,
    catalogue: () => known,
    listener,
    now: () => Date.now() + api.clock,
    isServing: () => api.serving,
    observer: {
      finished: (request) => void requests.push(request),
      failed: (error) => void failures.push(error),
    },
    settings: { ...testSettings, ...settings },
  });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const methods: Omit<TestApi, 'clock' | 'serving'> = {
    url,
    db,
    engine,
    accountId: account.accountId,
    apiKey: account.apiKey,
    requests,
    failures,
    call: (method, path, body, headers) => call(url, account.apiKey, method, path, body, headers),
    create: (body = {}, headers) => methods.call('POST', create, { ...textBody, ...body }, headers),
    anAccount: (creditMicros = credit) =>
      createAccount(db, { name: 'another', pepper: testPepper, creditMicros }),
    aKey: ({ models, channels, expiresAt }) =>
      createKey(db, {
        accountId: account.accountId,
        pepper: testPepper,
        name: 'limited',
        ...(models ? { models } : {}),
        ...(channels ? { channels } : {}),
        ...(expiresAt ? { expiresAt } : {}),
      }),
    async finish(taskId, text = 'cancelled by the caller') {
      const { plan } = engine.submitted.find((input) => input.taskId === taskId)!;
      const identity = { id: taskId, traceId: 't', model: plan.model, createdAt: 1_763_712_000 };
      const object = taskObject(identity, {
        status: 'failed',
        finishedAt: 1_763_712_060,
        error: { code: 'task_error', message: text },
      });
      await closeTask(db, { taskId, object, charge: [], heldMicros: plan.hold.amountMicros });
      await db.raw(`select pg_notify('task_changed', ?)`, [taskId]);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await listener.close();
      await drop();
    },
  };
  return Object.assign(api, methods) as TestApi;
}

const testSettings: ApiSettings = {
  pepper: testPepper,
  publicUrl: 'http://localhost',
  corsOrigins: [],
  allowHosts: [],
  createRatePerSecond: 10_000,
  createBurst: 10_000,
  unfinishedTasksMax: 100_000,
  createsInFlightPerAccountMax: 1_000,
  playground: false,
  temporalUiUrl: null,
  version: { name: 'test', version: '0', commit: 'test' },
};

function heldEngine(db: Knex): HeldEngine {
  const workflows = new Map<string, Promise<Submission>>();
  const engine: HeldEngine = {
    answer: 'accept',
    gate: undefined,
    submitted: [],
    cancelled: [],
    live: new Map(),
    pending: new Map(),
    reachable: true,
    async submit(input): Promise<Submission> {
      engine.submitted.push(input);
      await engine.gate;
      if (engine.answer === 'unavailable') return { outcome: 'unavailable', certain: true };
      if (engine.answer === 'unknown')
        return { outcome: 'unavailable', certain: false, nonce: 'nonce' };
      if (engine.answer === 'pending') {
        const known = engine.pending.get(input.taskId) ?? engineTask(input);
        engine.pending.set(input.taskId, known);
        return { outcome: 'pending', requestHash: known.requestHash };
      }
      // One workflow per id: whoever comes second hears the answer of the first.
      const running = workflows.get(input.taskId) ?? accept(db, input);
      workflows.set(input.taskId, running);
      const answer = await running;
      if (answer.outcome === 'refused') workflows.delete(input.taskId);
      return answer;
    },
    query: async (taskId) => (engine.reachable ? (engine.live.get(taskId) ?? null) : null),
    describe: async (taskId) =>
      engine.reachable ? (engine.pending.get(taskId) ?? 'unknown') : 'unavailable',
    async cancel(taskId) {
      if (!engine.reachable) return 'unavailable';
      engine.cancelled.push(taskId);
      return 'asked';
    },
    isReady: async () => engine.reachable,
    close: async () => undefined,
  };
  return engine;
}

function engineTask({ accountId, requestHash, traceId, request }: TaskInput): EngineTask {
  const { model } = request;
  const known = { accountId, requestHash, traceId, model, nonce: 'nonce' };
  return { ...known, startedAtMs: Date.now(), open: true };
}

/** What the task's workflow does first. */
async function accept(db: Knex, input: TaskInput): Promise<Submission> {
  const createdAtMs = Date.now();
  const { taskId: id, traceId, plan, requestHash } = input;
  const createdAt = Math.floor(createdAtMs / 1000);
  const object = taskObject({ id, traceId, model: plan.model, createdAt }, { status: 'submitted' });
  const deadlineAtMs = createdAtMs + plan.expiresAfterSeconds * 1000;
  const opened = await openTask(db, { input, object, createdAtMs, deadlineAtMs });
  switch (opened.outcome) {
    case 'refused':
      return { outcome: 'refused', refusal: opened.refusal };
    case 'exists': {
      const task = createdTask(opened.object);
      return { outcome: 'accepted', accepted: { task, requestHash: opened.requestHash } };
    }
    case 'opened':
      return { outcome: 'accepted', accepted: { task: createdTask(object), requestHash } };
  }
}

/** Waits for a condition instead of for a time. */
export async function until(holds: () => boolean, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('It did not come true in time.');
    await wait(10);
  }
}
