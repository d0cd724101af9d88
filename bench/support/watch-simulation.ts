// A process with nothing in it but the watcher's real loop, one for each shard, on rows of a
// database and a service that lists jobs. Whom it would wake it tells its parent, instead of an
// engine.

import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createChannels } from '../../activities/channels';
import type { ActivityEvents } from '../../activities/events';
import { createWatchActivities } from '../../activities/watch';
import { connect } from '../../src/db/database';
import type { Catalogue, Channel } from '../../src/domain/catalogue';
import type { JobReport } from '../../workflows/messages';

interface Simulation {
  readonly databaseUrl: string;
  readonly listUrl: string;
  readonly shards: number;
  readonly pollIntervalMs: number;
}

export type SimulationNews =
  | {
      readonly kind: 'told';
      readonly taskId: string;
      readonly status: string;
      readonly atMs: number;
    }
  | { readonly kind: 'round'; readonly ms: number };

export const simulatedChannel = 'simulated';

function run({ databaseUrl, listUrl, shards, pollIntervalMs }: Simulation): void {
  const say = (news: SimulationNews) => process.send?.(news);
  const db = connect({ url: databaseUrl, poolMax: 10, applicationName: 'watcher simulation' });
  const channel = {
    id: simulatedChannel,
    protocol: 'ark',
    baseUrl: listUrl,
    apiKeyEnv: 'NONE',
    pollIntervalMs,
    requestTimeoutMs: 10_000,
    watchers: shards,
    hasList: true,
  } as Channel;
  const catalogue = { channels: { [simulatedChannel]: channel } } as unknown as Catalogue;
  const ignore = () => undefined;
  const heard: Partial<ActivityEvents> = {
    watchRound: (_channel, _open, _changed, ms) => say({ kind: 'round', ms }),
    upstream: (_channel, _operation, outcome) => {
      if (outcome !== 'ok') throw new Error(`A list request ended as ${outcome}.`);
    },
  };
  // Whatever else it is told about goes unheard.
  const events = new Proxy(heard, {
    get: (known, name) => Reflect.get(known, name) ?? ignore,
  }) as ActivityEvents;
  const { watchJobs } = createWatchActivities({
    db,
    events,
    now: Date.now,
    channels: createChannels(
      () => catalogue,
      () => 'none',
      Date.now,
    ),
    client: clientThatTells(say),
    stopping: new AbortController().signal,
  });
  for (let shard = 0; shard < shards; shard += 1) {
    const input = { channel: simulatedChannel, shard, shards, taskQueue: 'none' };
    new MockActivityEnvironment().run(watchJobs, input).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    });
  }
}

function clientThatTells(say: (news: SimulationNews) => void): Client {
  const tell = async (taskId: string, { status }: JobReport) =>
    say({ kind: 'told', taskId, status, atMs: Date.now() });
  const handleOf = (taskId: string) => ({
    signal: (_name: string, report: JobReport) => tell(taskId, report),
  });
  const complete = ({ workflowId }: { workflowId: string }, ended: { report: JobReport }) =>
    tell(workflowId, ended.report);
  return { workflow: { getHandle: handleOf }, activity: { complete } } as unknown as Client;
}

// Its types are imported by whoever starts it.
if (require.main === module) {
  process.once('disconnect', () => process.exit(0));
  run(JSON.parse(process.argv[2] ?? '') as Simulation);
}
