// Starts a studio and prepares the activities that call it, for tests that need no workflow. A test
// defines the channels.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompleteAsyncError } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Knex } from 'knex';
import { createHostShare } from '../../activities/callbacks/per-host-limit';
import type { WorkerDeps } from '../../activities/deps';
import type { ActivityEvents } from '../../activities/events';
import { createRunJob } from '../../activities/jobs/run-job';
import { createChannels } from '../../activities/providers/channels';
import type { Catalogue, Channel } from '../../src/catalogue/catalogue.rules';
import { openDirectory } from '../../src/files/storage/directory';
import type { JobInput, PlacedJob, PlacementAttempt, RequestedJob } from '../../src/jobs/job.rules';
import { findJob } from '../../src/jobs/queries.rows';
import { createStudio, type Studio } from '../../studio/server';
import { activitySettings, stopping } from './activity-settings';
import { aJobInput, aPlan, aRequest } from './builders';

/** The result of one attempt. For an open job it has the channel and the upstream id. */
export type Placed =
  | PlacedJob
  | { readonly outcome: 'open'; readonly channel: string; readonly upstreamId: string };

const key = 'studio-key-for-tests';

export interface Upstream {
  readonly studio: Studio;
  readonly deps: WorkerDeps;
  readonly events: { readonly name: string; readonly args: readonly unknown[] }[];
  /** What the workflows of the tasks were told about attempts. */
  readonly told: readonly PlacementAttempt[];
  /** The number of jobs that the studio has accepted for this task. */
  accepted(taskId: string): Promise<number>;
  /** The number of creates that the studio has received. */
  requests(): Promise<number>;
  script(script: object): Promise<void>;
  /** Runs one attempt of `runJob`. If the activity then waits for its job, the job is `open`. */
  attempt(
    input: JobInput,
    over?: Partial<WorkerDeps>,
    number?: number,
    /** The run of the workflow. A reset begins another run. */
    runId?: string,
  ): Promise<Placed>;
  /** The input of a job. The task and the planned job are stored in the database. */
  input(studio?: object, over?: Partial<RequestedJob>): Promise<RequestedJob>;
  close(): Promise<void>;
}

export async function startUpstream(
  db: Knex,
  channelsOf: (base: Channel) => readonly Channel[] = (base) => [base],
  upstreamModel = 'studio-2.0',
): Promise<Upstream> {
  const folder = await mkdtemp(join(tmpdir(), 'video-upstream-'));
  const studio = await createStudio({
    host: '127.0.0.1',
    port: 0,
    apiKey: key,
    dataDir: folder,
    allowHosts: [],
    maxRunning: 1_000,
    maxRenders: 1,
  });
  const channels = channelsOf({
    id: 'studio',
    protocol: 'ark',
    baseUrl: `${studio.url}/api/v3`,
    apiKeyEnv: 'KEY',
    requestTimeoutMs: 1_500,
    pollIntervalMs: 100,
    jobsInFlightMax: null,
    honoursIdempotencyKey: true,
    hasList: true,
    listLagMs: 500,
  });
  const catalogue: Catalogue = {
    currency: 'CNY',
    channels: Object.fromEntries(channels.map((channel) => [channel.id, channel])),
    models: {},
    superResolution: null,
    chargeMaxFactor: 3,
  };
  const events: { name: string; args: readonly unknown[] }[] = [];
  const told: PlacementAttempt[] = [];
  const now = () => Date.now();
  const keys: Record<string, string> = { KEY: key, KEY_PAIR: `access:${key}` };
  const apiKeys = (name: string) => keys[name] ?? 'an unknown key';

  const admin = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${studio.url}/admin/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };

  const deps: WorkerDeps = {
    db,
    client: clientThatTells((attempt) => told.push(attempt)),
    storage: await openDirectory(join(folder, 'files')),
    stopping,
    startTask: async () => true,
    startDelivery: async () => undefined,
    hostShare: createHostShare(() => performance.now()),
    ensureWatchers: async () => undefined,
    settings: activitySettings,
    now,
    events: recorded(events),
    channels: createChannels(() => catalogue, apiKeys, now, {
      events: recorded(events),
      allowHosts: [new URL(studio.url).host],
    }),
  };
  return {
    studio,
    deps,
    events,
    told,
    attempt: (input, over = {}, number = 1, runId = 'first') =>
      attemptOf({ ...deps, ...over }, input, { number, runId }),
    accepted: async (taskId) =>
      Number((await admin('GET', `accepted?client_request_id=${taskId}`)).total),
    async requests() {
      const { requests } = await admin('GET', 'counters');
      return (requests as Record<string, number>)['POST /api/v3/contents/generations/tasks'] ?? 0;
    },
    script: async (script) => void (await admin('POST', 'script', script)),
    async input(script = {}, over = {}) {
      const input: RequestedJob = aJobInput({
        request: aRequest({
          metadata: { passThrough: { studio: { render: 'none', run_s: 60, ...script } } },
        }),
        plan: aPlan({
          seed: Math.floor(Math.random() * 2 ** 31),
          channels: channels.map(({ id }) => ({ channel: id, upstreamModel })),
        }),
        ...over,
      });
      await insertTaskRow(db, input.taskId, input.plan, input.request);
      await planJob(db, input);
      return input;
    },
    async close() {
      await studio.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A client that passes each told attempt on, and can do nothing else. */
function clientThatTells(tell: (attempt: PlacementAttempt) => void): Client {
  const signal = async (_: string, attempt: PlacementAttempt) => tell(attempt);
  const client = {
    withDeadline: (_: number, call: () => Promise<unknown>) => call(),
    workflow: { getHandle: () => ({ signal }) },
  };
  return client as unknown as Client;
}

function recorded(events: { name: string; args: readonly unknown[] }[]): ActivityEvents {
  return new Proxy({} as ActivityEvents, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        void events.push({ name: String(name), args }),
  });
}

/** Stores a task that was never opened. Its account has no balance row. */
export async function insertTaskRow(
  db: Knex,
  taskId: string,
  plan: object = {},
  request: object = aRequest(),
): Promise<void> {
  await db.raw(
    `insert into accounts (id, name) values ('acct_test', 'test') on conflict (id) do nothing`,
  );
  await db.raw(
    `insert into tasks (id, account_id, model, request, plan, request_hash, trace_id, hold_micros,
                        deadline_at)
     values (?, 'acct_test', 'm', ?, ?, 'h', 't', 0, now() + interval '1 hour')`,
    [taskId, JSON.stringify(request), JSON.stringify(plan)],
  );
}

/** Stores the row of a job in its first state, as the start of its task does. */
/** Moves creates into the past, as if their jobs had been searched for since then. */
export async function sentEarlier(db: Knex, seconds: number, taskIds = '%'): Promise<void> {
  const earlier = 'sent_at - make_interval(secs => :seconds)';
  await db.raw(
    `update jobs set sent_at = ${earlier}, searched_since = ${earlier} where task_id like :taskIds`,
    { seconds, taskIds },
  );
}

export async function planJob(
  db: Knex,
  { taskId, kind, accountId }: Pick<JobInput, 'taskId' | 'kind' | 'accountId'>,
): Promise<void> {
  await db.raw(
    `insert into jobs (task_id, kind, account_id, owes, due_at)
     values (?, ?, ?, 'place', now() + interval '15 seconds')`,
    [taskId, kind, accountId],
  );
}

async function attemptOf(
  deps: WorkerDeps,
  input: JobInput,
  { number, runId }: { readonly number: number; readonly runId: string },
): Promise<Placed> {
  const logger = new DefaultLogger('ERROR');
  const workflowExecution = { workflowId: input.taskId, runId };
  const worker = new MockActivityEnvironment({ attempt: number, workflowExecution }, { logger });
  try {
    return await worker.run(createRunJob(deps).runJob, input);
  } catch (error) {
    if (!(error instanceof CompleteAsyncError)) throw error;
    const { channel, upstreamId } = (await findJob(deps.db, input)) ?? {};
    return { outcome: 'open', channel: channel ?? '', upstreamId: upstreamId ?? '' };
  }
}
