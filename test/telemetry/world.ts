// Starts API, worker and studio as processes with every log level and metrics. PostgreSQL and Temporal are those of the test run.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { freePorts } from '../../src/embedded/ports';
import { createAccount } from '../../src/money/new-account.rows';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { createTestDatabase } from '../support/database';
import { endAllProcesses, type RunningProcess, startProcess } from '../support/processes';
import { call, type Reply } from '../support/service';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

export interface TelemetryWorld {
  readonly db: Knex;
  readonly sink: CallbackSink;
  readonly studioUrl: string;
  readonly apiKey: string;
  /** Texts that must not appear in logs. */
  readonly secrets: Readonly<Record<string, string>>;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  finished(id: string): Promise<Reply>;
  metricsOf(process: 'api' | 'worker'): Promise<string>;
  logs(): string;
  stop(): Promise<void>;
  close(): Promise<void>;
}

export async function startTelemetryWorld(): Promise<TelemetryWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'video-telemetry-'));
  const sink = await startCallbackSink();
  const database = await createTestDatabase(4);
  const account = await createAccount(database.db, {
    name: 'test',
    creditMicros: 1_000_000_000,
  });
  const [studioPort = 0] = await freePorts(1);
  const studioUrl = `http://127.0.0.1:${studioPort}`;
  const secrets = {
    studioApiKey: 'planted-key-of-the-studio',
  };
  const environment = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_TASK_QUEUE: uniqueTaskQueue(),
    STUDIO_URL: studioUrl,
    STUDIO_PORT: String(studioPort),
    STUDIO_API_KEY: secrets.studioApiKey,
    STORAGE_DIR: join(folder, 'files'),
    DATA_DIR: join(folder, 'data'),
    DANGEROUSLY_ALLOW_HOSTS: sink.hostPort,
    DANGEROUSLY_ALLOW_PROVIDER_HOSTS: `127.0.0.1:${studioPort}`,
    METRICS_PORT: '0',
    LOG_LEVEL: 'trace',
    PORT: '0',
  };
  const processes = new Map<string, RunningProcess>();
  const start = (name: 'studio' | 'worker' | 'api') => {
    const started = startProcess([name], environment);
    processes.set(name, started);
    return until(
      `${name} is ready`,
      () => {
        if (started.hasEnded()) throw new Error(`${name} ended:\n${started.said()}`);
        return started.out().includes('"event":"ready"');
      },
      60_000,
    );
  };
  await Promise.all([start('studio'), start('worker'), start('api')]);
  const fieldOf = (name: string, event: string) => {
    const line = new RegExp(`"event":"${event}","port":(\\d+)`);
    return Number(line.exec(processes.get(name)?.out() ?? '')?.[1]);
  };
  const url = `http://127.0.0.1:${fieldOf('api', 'listening')}`;
  const world: TelemetryWorld = {
    db: database.db,
    sink,
    studioUrl,
    apiKey: account.apiKey,
    secrets: { ...secrets, apiKey: account.apiKey, webhookSecret: account.webhookSecret },
    call: (method, path, body, headers) => call(url, account.apiKey, method, path, body, headers),
    async finished(id) {
      for (;;) {
        const path = `/v1/videos/generations/${id}`;
        const reply = await world.call('GET', path, undefined, { prefer: 'wait=5' });
        if (/succeeded|failed/.test(reply.json.status)) return reply;
      }
    },
    async metricsOf(name) {
      const port = fieldOf(name, 'metrics_served');
      return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    },
    logs: () => [...processes.values()].map((process) => process.said()).join('\n'),
    async stop() {
      for (const process of processes.values()) process.signal('SIGTERM');
      await Promise.all([...processes.values()].map(({ ended }) => ended));
    },
    async close() {
      await endAllProcesses();
      await database.drop();
      await sink.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}
