// The whole system as processes, two of each that may be doubled, with a proxy on every link a
// worker has, and a receiver of callbacks. Nothing restarts by itself here: who kills something
// starts it again.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { figuresOf, pidOf } from '../../bench/support/process-figures';
import { type Stack, startStack } from '../../src/commands/stack';
import { connect } from '../../src/db/database';
import { creditAccount } from '../../src/db/ledger';
import { freePorts } from '../../src/embedded/ports';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type Link, startLink } from './link';

export type LinkName = 'postgres' | 'temporal' | 'studio' | 'receiver';

export interface World {
  readonly stack: Stack;
  readonly folder: string;
  readonly db: Knex;
  readonly receiver: CallbackSink;
  /** Where the receiver is reached, through its link. */
  readonly callbackUrl: string;
  readonly apis: readonly string[];
  readonly apiKey: string;
  readonly accountId: string;
  /** Between the workers and what they talk to. */
  readonly links: Readonly<Record<LinkName, Link>>;
  /**
   * Log lines that no fault explains: rejections nobody handled, invariants that did not hold,
   * other errors.
   */
  unexplained(): Promise<readonly string[]>;
  /** Megabytes in memory, of each process of ours. */
  memory(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

interface WorldOptions {
  readonly apis?: number;
  readonly workers?: number;
  /** What each worker finds in its environment besides. */
  readonly workerEnvironment?: (n: number) => Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'video-chaos-'));
  const receiver = await startCallbackSink();
  const toReceiver = await linkTo(receiver.url);
  const stack = await startStack({
    dataDir: join(folder, 'data'),
    without: ['worker', 'api'],
    environment: {
      ...process.env,
      PORT: '0',
      DANGEROUSLY_ALLOW_HOSTS: toReceiver.address,
      RECONCILE_INTERVAL_SECONDS: '5',
      ...options.environment,
    },
  });
  const { databaseUrl, temporalAddress, studioUrl, apiKey, accountId } = stack.addresses;
  const db = connect({ url: databaseUrl, poolMax: 4, applicationName: 'chaos' });
  // Ten thousand tasks cost five times what a demo account comes with.
  const amountMicros = 1_000_000_000_000;
  await creditAccount(db, { accountId, amountMicros, reference: 'chaos', reason: 'for many' });
  const links = {
    postgres: await linkTo(databaseUrl),
    temporal: await linkTo(`tcp://${temporalAddress}`),
    studio: await linkTo(studioUrl ?? ''),
    receiver: toReceiver,
  };
  const ports = await freePorts(options.apis ?? 2);
  const proxied = throughLinks(stack.addresses.environment, links);
  const starts = [
    ...Array.from({ length: options.workers ?? 2 }, (_, n) =>
      stack.another(`worker-${n + 1}`, 'worker', {
        ...proxied,
        ...options.workerEnvironment?.(n),
      }),
    ),
    ...ports.map((port, n) => stack.another(`api-${n + 1}`, 'api', { PORT: String(port) })),
  ];
  await Promise.all(starts.map((part) => part.start()));
  return {
    stack,
    folder,
    db,
    receiver,
    callbackUrl: `http://${toReceiver.address}/hook`,
    apis: ports.map((port) => `http://127.0.0.1:${port}`),
    apiKey,
    accountId,
    links,
    async unexplained() {
      const lines = await Promise.all(
        ours(stack).map((name) =>
          readFile(join(folder, 'data', 'logs', `${name}.log`), 'utf8').catch(() => ''),
        ),
      );
      return lines.flatMap((text) => text.split('\n')).filter(isUnexplained);
    },
    memory: () =>
      Object.fromEntries(
        ours(stack).map((name) => {
          const { rssBytes } = figuresOf(pidOf(stack.part(name)));
          return [name, rssBytes / 2 ** 20];
        }),
      ),
    async close() {
      await db.destroy();
      await stack.stop();
      for (const link of Object.values(links)) await link.close();
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function ours({ parts }: Stack): string[] {
  return [...parts.keys()].filter((name) => /^(worker|api|studio)/.test(name));
}

// What a fault of ours looks like from inside: an answer that could not be given, an activity that
// failed, a worker whose engine was not there yet.
const explained = /"event":"(request_failed|temporal|setup)"/;

function isUnexplained(line: string): boolean {
  if (/"level":"fatal"|AssertionError|TypeError|"code":"internal_error"/.test(line)) return true;
  return line.includes('"level":"error"') && !explained.test(line);
}

/** A worker's settings with every address replaced by the proxy in front of it. */
function throughLinks(
  { DATABASE_URL, STUDIO_URL, DANGEROUSLY_ALLOW_HOSTS }: Readonly<Record<string, string>>,
  { postgres, temporal, studio }: World['links'],
): Record<string, string> {
  const database = new URL(DATABASE_URL ?? '');
  database.host = postgres.address;
  return {
    DATABASE_URL: database.href,
    TEMPORAL_ADDRESS: temporal.address,
    STUDIO_URL: (STUDIO_URL ?? '').replace(/\d+$/, String(studio.port)),
    DANGEROUSLY_ALLOW_HOSTS: DANGEROUSLY_ALLOW_HOSTS ?? '',
  };
}

function linkTo(url: string): Promise<Link> {
  const { hostname, port } = new URL(url);
  return startLink(() => ({ host: hostname, port: Number(port) }));
}
