// A studio and the activities that talk to it, for tests that need no workflow: channels are made
// as a test wants them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompleteAsyncError } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Knex } from 'knex';
import { createChannels } from '../../activities/channels';
import type { ActivityEvents } from '../../activities/events';
import { createSubmitActivities, type SubmitDeps } from '../../activities/submit';
import { findJob } from '../../src/db/jobs';
import type { Catalogue, Channel } from '../../src/domain/catalogue';
import { createStudio, type Studio } from '../../src/studio/server';
import type { JobOrder, PlacedJob } from '../../workflows/messages';
import { anOrder, aPlan, aRequest } from './builders';

const key = 'studio-key-for-tests';

export interface Upstream {
  readonly studio: Studio;
  readonly deps: SubmitDeps;
  readonly events: { readonly name: string; readonly args: readonly unknown[] }[];
  /** Jobs the studio has accepted for this task. */
  accepted(taskId: string): Promise<number>;
  requests(): Promise<number>;
  script(script: object): Promise<void>;
  /** One attempt of the activity; one that goes on waiting for its job has placed it. */
  attempt(order: JobOrder, over?: Partial<SubmitDeps>): Promise<PlacedJob>;
  /** An order whose task exists in the database. */
  order(studio?: object, over?: Partial<JobOrder>): Promise<JobOrder>;
  close(): Promise<void>;
}

export async function startUpstream(
  db: Knex,
  channelsOf: (base: Channel) => readonly Channel[] = (base) => [base],
): Promise<Upstream> {
  const folder = await mkdtemp(join(tmpdir(), 'video-upstream-'));
  const studio = await createStudio({
    host: '127.0.0.1',
    port: 0,
    apiKey: key,
    adminKey: key,
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
    pollIntervalMs: 250,
    jobsInFlightMax: null,
    honoursIdempotencyKey: true,
    hasList: true,
    listLagMs: 500,
    watchers: 1,
  });
  const catalogue: Catalogue = {
    currency: 'CNY',
    channels: Object.fromEntries(channels.map((channel) => [channel.id, channel])),
    models: {},
    superResolution: null,
  };
  const events: { name: string; args: readonly unknown[] }[] = [];
  const now = () => Date.now();
  const apiKeys = (name: string) => (name === 'KEY' ? key : 'a key nobody knows');
  await db.raw(
    `insert into accounts (id, name) values ('acct_test', 'test') on conflict (id) do nothing`,
  );

  const admin = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${studio.url}/admin/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };

  const deps: SubmitDeps = {
    db,
    now,
    events: recorded(events),
    channels: createChannels(() => catalogue, apiKeys, now),
  };
  return {
    studio,
    deps,
    events,
    attempt: (order, over = {}) => attemptOf({ ...deps, ...over }, order),
    accepted: async (taskId) =>
      Number((await admin('GET', `accepted?client_request_id=${taskId}`)).total),
    requests: async () => Number((await admin('GET', 'counters')).create_requests),
    script: async (script) => void (await admin('POST', 'script', script)),
    async order(script = {}, over = {}) {
      const order = anOrder({
        request: aRequest({
          metadata: { passThrough: { studio: { render: 'none', run_s: 60, ...script } } },
        }),
        plan: aPlan({
          seed: Math.floor(Math.random() * 2 ** 31),
          channels: channels.map(({ id }) => ({ channel: id, upstreamModel: 'studio-2.0' })),
        }),
        ...over,
      });
      await db.raw(
        `insert into tasks (id, account_id, model, status, version, object, request, plan,
                            request_hash, trace_id, created_at, deadline_at)
         values (?, 'acct_test', 'm', 'submitted', 1, '{}', '{}', ?, 'h', 't', now(), now())`,
        [order.taskId, JSON.stringify(order.plan)],
      );
      return order;
    },
    async close() {
      await studio.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function recorded(events: { name: string; args: readonly unknown[] }[]): ActivityEvents {
  return new Proxy({} as ActivityEvents, {
    get:
      (_, name) =>
      (...args: unknown[]) =>
        void events.push({ name: String(name), args }),
  });
}

async function attemptOf(deps: SubmitDeps, order: JobOrder): Promise<PlacedJob> {
  const worker = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  try {
    return await worker.run(createSubmitActivities(deps).submitJob, order);
  } catch (error) {
    if (!(error instanceof CompleteAsyncError)) throw error;
    const { channel = '', upstreamId } = (await findJob(deps.db, order)) ?? {};
    return { outcome: 'accepted', channel, upstreamId: upstreamId ?? '' };
  }
}
