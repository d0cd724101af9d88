// Starts the whole system as processes: by default two workers and two APIs, with a proxy on each
// of their links, and a receiver of callbacks. No process restarts by itself here. A test that
// kills a process starts the process again. A world that breaks no server may use the servers of
// the run: servers of its own take seconds to start.

import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { figuresOf, pidOf } from '../../bench/support/process-figures';
import { connect } from '../../src/database/database';
import { settingsFor } from '../../src/dev-stack/dev-file';
import { type Stack, startStack } from '../../src/dev-stack/stack';
import type { Part } from '../../src/dev-stack/supervised-process';
import { freePorts } from '../../src/embedded/ports';
import { openDirectory } from '../../src/files/storage/directory';
import type { Storage } from '../../src/files/storage/storage';
import { creditAccount } from '../../src/money/ledger.rows';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import type { TemporalCluster } from '../support/cluster';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { sized } from '../support/sized';
import { starting } from '../support/starting';
import { connectTemporal, endLoops, temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { type Link, startLink } from './link';

/** The two ends of a link: the caller and the server. */
export const linkNames = [
  'worker to postgres',
  'worker to temporal',
  'worker to studio',
  'worker to receiver',
  'api to postgres',
  'api to temporal',
  'caller to api',
] as const;
export type LinkName = (typeof linkNames)[number];

export interface World {
  readonly stack: Stack;
  readonly folder: string;
  readonly db: Knex;
  readonly storage: Storage;
  readonly receiver: CallbackSink;
  /** The address of the receiver, through its link. */
  readonly callbackUrl: string;
  readonly apis: readonly string[];
  readonly apiKey: string;
  readonly accountId: string;
  /**
   * Connects with the role of a worker. The stack itself gives a database that it did not start to all
   * processes with one URL.
   */
  readonly workerDatabaseUrl: string;
  /** The link `caller to api` leads to the first API. Calls without faults use `apis`. */
  readonly links: Readonly<Record<LinkName, Link>>;
  /** A process of the stack or of the Temporal cluster. */
  part(name: string): Part;
  /** Log lines that no fault explains, such as failed assertions and other errors. */
  unexplained(): Promise<readonly string[]>;
  /** The memory of each process of the service, the studio and the cluster, in megabytes. */
  memory(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /**
   * True if the world has the PostgreSQL and the Temporal of the run, with a database and a task queue
   * of its own. Worlds of the long run have servers of their own, because their crowds are large.
   */
  readonly sharesServers?: boolean;
  /** Replaces the development server of Temporal. The world stops the cluster at its own end. */
  readonly cluster?: TemporalCluster;
  readonly apis?: number;
  readonly workers?: number;
  /** Additional environment variables of the nth worker, counted from 0. */
  readonly workerEnvironment?: (n: number, studioKey: string) => Readonly<Record<string, string>>;
  readonly apiEnvironment?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The file that the next start of this API or worker runs; that of this version by default. */
  readonly program?: (name: string) => string;
}

/** Another program may take a port that was free a moment ago. Then the start is repeated. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await starting(() => tryWorld(options));
    } catch (error) {
      if (
        tries === 3 ||
        options.cluster ||
        !/Port \d+ is taken|address already in use/i.test(String(error))
      )
        throw error;
    }
  }
}

async function tryWorld(options: WorldOptions): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'video-chaos-'));
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755);
  const receiver = await startCallbackSink();
  const toReceiver = await linkTo(receiver.url);
  const shares = sized({ each: options.sharesServers === true, long: false });
  const database = shares ? await createTestDatabase(4) : null;
  const stack = await startStack({
    dataDir: join(folder, 'data'),
    without: ['worker', 'api', 'console'],
    environment: {
      ...process.env,
      PORT: '0',
      DANGEROUSLY_ALLOW_HOSTS: toReceiver.address,
      RECONCILE_INTERVAL_SECONDS: '5',
      ...(options.cluster ? { TEMPORAL_ADDRESS: options.cluster.address } : {}),
      ...(database ? inServersOfRun(database) : {}),
      ...options.environment,
    },
  });
  const { databaseUrl, temporalAddress: temporal, studioUrl, apiKey, accountId } = stack.addresses;
  const db = database?.db ?? connect({ url: databaseUrl, poolMax: 4, applicationName: 'chaos' });
  // Ten thousand tasks cost five times the credit of a demo account.
  const amountMicros = 1_000_000_000_000;
  await creditAccount(db, { accountId, amountMicros, reference: 'chaos', reason: 'for many' });
  const ports = await freePorts(options.apis ?? 2);
  const apis = ports.map((port) => `http://127.0.0.1:${port}`);
  const temporalUrl = `tcp://${temporal}`;
  const links = {
    'worker to postgres': await linkTo(databaseUrl),
    'worker to temporal': await linkTo(temporalUrl),
    'worker to studio': await linkTo(studioUrl ?? ''),
    'worker to receiver': toReceiver,
    'api to postgres': await linkTo(databaseUrl),
    'api to temporal': await linkTo(temporalUrl),
    'caller to api': await linkTo(apis[0] ?? ''),
  };
  const ofWorker = settingsFor('worker', stack.addresses);
  const workerDatabaseUrl = database?.workerUrl ?? ofWorker.DATABASE_URL ?? '';
  const start = (name: string, kind: 'worker' | 'api', environment: Record<string, string>) => {
    const { program } = options;
    return stack.another(name, kind, environment, program && (() => program(name)));
  };
  const starts = [
    ...Array.from({ length: options.workers ?? 2 }, (_, n) =>
      start(`worker-${n + 1}`, 'worker', {
        ...workersWay({ ...ofWorker, DATABASE_URL: workerDatabaseUrl }, links),
        ...options.workerEnvironment?.(n, stack.addresses.studioApiKey),
      }),
    ),
    ...ports.map((port, n) =>
      start(`api-${n + 1}`, 'api', {
        ...apisWay(stack.addresses.environment, links, database?.apiUrl),
        PORT: String(port),
        ...options.apiEnvironment,
      }),
    ),
  ];
  const world: World = {
    stack,
    folder,
    db,
    storage: await openDirectory(stack.addresses.environment.STORAGE_DIR ?? ''),
    receiver,
    callbackUrl: `http://${toReceiver.address}/hook`,
    apis,
    apiKey,
    accountId,
    workerDatabaseUrl,
    links,
    part: (name) => options.cluster?.parts.get(name) ?? stack.part(name),
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
        [
          ...ours(stack).map((name) => stack.part(name)),
          ...(options.cluster?.parts.values() ?? []),
        ].map((part) => {
          const { rssBytes } = figuresOf(pidOf(part));
          return [part.name, rssBytes / 2 ** 20];
        }),
      ),
    async close() {
      if (!database) await db.destroy();
      // Nothing is kept, so only the database, which has shared memory, stops in its own time.
      for (const part of stack.parts.values()) {
        if (part.name !== 'postgres') part.kill('SIGKILL');
      }
      await stack.stop();
      await options.cluster?.stop();
      for (const link of Object.values(links)) await link.close();
      if (database) await leaveServers(database, stack.addresses.environment.TEMPORAL_TASK_QUEUE);
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(starts.map((part) => part.start()));
    return world;
  } catch (error) {
    await world.close();
    throw error;
  }
}

function ours({ parts }: Stack): string[] {
  return [...parts.keys()].filter((name) => /^(worker|api|studio)/.test(name));
}

// Events that a fault explains: a request without an answer, a failed activity, a worker that
// started before Temporal.
const explained = /"event":"(request_failed|temporal|setup)"/;

// The SDK sometimes gets a query together with a new workflow task. The SDK fails that workflow
// task, and the server sends the workflow task again (temporalio/sdk-rust, issue 390).
const sdkRace = /legacy query response along with other commands/;

function isUnexplained(line: string): boolean {
  if (sdkRace.test(line)) return false;
  if (/"level":"fatal"|AssertionError|TypeError|"code":"internal_error"/.test(line)) return true;
  return line.includes('"level":"error"') && !explained.test(line);
}

const inServersOfRun = ({ url }: TestDatabase) => ({
  DATABASE_URL: url,
  TEMPORAL_ADDRESS: temporalAddress(),
  TEMPORAL_TASK_QUEUE: uniqueTaskQueue(),
});

async function leaveServers(database: TestDatabase, taskQueue = ''): Promise<void> {
  const { client, close } = await connectTemporal();
  await endLoops(client, taskQueue);
  await close();
  await database.drop();
}

/** A worker's settings. Each address is replaced by the address of its proxy. */
function workersWay(
  { DATABASE_URL, STUDIO_URL, ...given }: Readonly<Record<string, string>>,
  links: World['links'],
): Record<string, string> {
  return {
    DATABASE_URL: through(links['worker to postgres'], DATABASE_URL ?? ''),
    TEMPORAL_ADDRESS: links['worker to temporal'].address,
    STUDIO_URL: (STUDIO_URL ?? '').replace(/\d+$/, String(links['worker to studio'].port)),
    DANGEROUSLY_ALLOW_HOSTS: given.DANGEROUSLY_ALLOW_HOSTS ?? '',
    DANGEROUSLY_ALLOW_PROVIDER_HOSTS: given.DANGEROUSLY_ALLOW_PROVIDER_HOSTS ?? '',
  };
}

/** An API's settings. Each address is replaced by the address of its proxy. */
function apisWay(
  { DATABASE_URL }: Readonly<Record<string, string>>,
  links: World['links'],
  databaseUrl = DATABASE_URL,
): Record<string, string> {
  return {
    DATABASE_URL: through(links['api to postgres'], databaseUrl ?? ''),
    TEMPORAL_ADDRESS: links['api to temporal'].address,
  };
}

function through({ address }: Link, url: string): string {
  const way = new URL(url);
  way.host = address;
  return way.href;
}

function linkTo(url: string): Promise<Link> {
  const { hostname, port } = new URL(url);
  return startLink(() => ({ host: hostname, port: Number(port) }));
}
