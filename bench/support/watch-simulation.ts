// A process that runs only the real watcher loop. The loop uses the rows of a
// database and a server that lists jobs. Notifications go to the parent process instead of
// Temporal.

import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { WorkerDeps } from '../../activities/deps';
import type { ActivityEvents } from '../../activities/events';
import { createWatchActivities } from '../../activities/jobs/watch-channel';
import { createChannels } from '../../activities/providers/channels';
import type { Catalogue, Channel } from '../../src/catalogue/catalogue.rules';
import { connect } from '../../src/database/database';
import type { JobReport } from '../../src/jobs/job.rules';
import { stopping } from './stopping';

interface Simulation {
  readonly databaseUrl: string;
  readonly listUrl: string;
  readonly pollIntervalMs: number;
}

export type SimulationNews =
  | {
      readonly kind: 'notified';
      readonly taskId: string;
      readonly status: string;
      readonly atMs: number;
    }
  | { readonly kind: 'round'; readonly ms: number };

export const simulatedChannel = 'simulated';

function run({ databaseUrl, listUrl, pollIntervalMs }: Simulation): void {
  const say = (news: SimulationNews) => process.send?.(news);
  const db = connect({ url: databaseUrl, poolMax: 10, applicationName: 'watcher simulation' });
  const channel = {
    id: simulatedChannel,
    protocol: 'ark',
    baseUrl: listUrl,
    apiKeyEnv: 'NONE',
    pollIntervalMs,
    requestTimeoutMs: 10_000,
    hasList: true,
  } as Channel;
  const catalogue = { channels: { [simulatedChannel]: channel } } as unknown as Catalogue;
  const ignore = () => undefined;
  const heard: Partial<ActivityEvents> = {
    watchRound: (_channel, _open, _changed, ms) => say({ kind: 'round', ms }),
    upstream: ({ outcome }) => {
      if (outcome !== 'ok') throw new Error(`A list request ended as ${outcome}.`);
    },
  };
  // All other events are ignored.
  const events = new Proxy(heard, {
    get: (known, name) => Reflect.get(known, name) ?? ignore,
  }) as ActivityEvents;
  const { watchJobs } = createWatchActivities({
    db,
    events,
    now: Date.now,
    ensureWatchers: async () => undefined,
    channels: createChannels(
      () => catalogue,
      () => 'none',
      Date.now,
      { events },
    ),
    client: clientThatNotifies(say),
    stopping,
  } as unknown as WorkerDeps);
  const input = { channel: simulatedChannel, taskQueue: 'none' };
  new MockActivityEnvironment().run(watchJobs, input).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
}

function clientThatNotifies(say: (news: SimulationNews) => void): Client {
  const notify = async (taskId: string, { status }: JobReport) =>
    say({ kind: 'notified', taskId, status, atMs: Date.now() });
  const handleOf = (taskId: string) => ({
    signal: (_name: string, report: JobReport) => notify(taskId, report),
  });
  const complete = ({ workflowId }: { workflowId: string }, ended: { report: JobReport }) =>
    notify(workflowId, ended.report);
  return { workflow: { getHandle: handleOf }, activity: { complete } } as unknown as Client;
}

// The parent process also imports this file, and must not run the loop.
if (require.main === module) {
  process.once('disconnect', () => process.exit(0));
  run(JSON.parse(process.argv[2] ?? '') as Simulation);
}
