// Every setting the service knows, in one table: its name in the environment, what it may be, what it is when nobody says,
// and a sentence about it. This is the only place that reads the environment. All faults are reported together, and
// what is read is handed down in pieces: below `commands` nobody sees the whole.

import { z } from 'zod';
import {
  choice,
  code,
  flag,
  hostPort,
  list,
  origin,
  orNone,
  port,
  secret,
  text,
  url,
  webUrl,
  whole,
} from './setting-kinds';

const table = z.object({
  // Where the API listens and how it is reached.
  HOST: text().default('127.0.0.1').describe('Address the API listens on.'),
  PORT: port().default(8080).describe('Port the API listens on; 0 takes any free one.'),
  PUBLIC_URL: orNone(origin()).describe(
    'Address callers reach the API at; none: http://localhost and the port.',
  ),
  CORS_ORIGINS: list(origin())
    .default([])
    .describe('Web pages, by origin, that may call the API from a browser.'),
  PLAYGROUND: flag().default(false).describe('Serves the playground page at /.'),
  METRICS_PORT: orNone(port()).describe(
    'Port of /metrics, on HOST; none: no metrics are served. Each process needs one of its own.',
  ),

  // What it stands on.
  DATABASE_URL: orNone(url('postgres', 'postgresql'))
    .describe('The PostgreSQL database.')
    .meta(secret()),
  DATABASE_POOL_MAX: whole(2, 500)
    .default(10)
    .describe('Connections to PostgreSQL a process holds at most.'),
  TEMPORAL_ADDRESS: orNone(hostPort()).describe('The Temporal server, as host:port.'),
  TEMPORAL_NAMESPACE: text().default('default').describe('Its namespace.'),
  TEMPORAL_TLS: flag().default(false).describe('Speaks TLS to it; an API key implies this.'),
  TEMPORAL_API_KEY: orNone(text()).describe('API key of a hosted Temporal.').meta(secret()),
  TEMPORAL_TASK_QUEUE: text()
    .default('video')
    .describe('Task queue that API and worker share; recorded in running tasks.'),
  TEMPORAL_UI_URL: orNone(webUrl()).describe('Its Web UI, for links to a task’s workflow.'),
  CATALOGUE_FILE: text()
    .default('catalogue.yaml')
    .describe('Models, channels and prices; a SIGHUP reads it again.'),

  // Accounts and money.
  API_KEY_PEPPER: orNone(text(16))
    .describe(
      'Secret the stored digests of API keys are made with, 16 characters or more; changing it voids every key.',
    )
    .meta(secret()),
  CURRENCY: code().default('CNY').describe('The one currency of all amounts.'),

  // Limits of the API.
  ACCEPT_TIMEOUT_MS: whole(100, 30_000)
    .default(3_000)
    .describe('How long a create waits for its workflow before it answers `pending`.'),
  CREATE_RATE_PER_SECOND: whole(1, 100_000)
    .default(10)
    .describe('Creates a second and key, on average, in each API process.'),
  CREATE_BURST: whole(1, 100_000).default(50).describe('Creates a key may make at once.'),
  UNFINISHED_TASKS_MAX: whole(1, 10_000_000)
    .default(1_000)
    .describe('Unfinished tasks an account may have.'),
  CREATES_IN_FLIGHT_PER_ACCOUNT_MAX: whole(1, 10_000)
    .default(64)
    .describe('Creates of one account an API process works on at once.'),
  QUERIES_IN_FLIGHT_MAX: whole(1, 1_000)
    .default(32)
    .describe(
      'Workflow queries an API process has open at once; beyond it GET answers from the stored row.',
    ),
  DANGEROUSLY_ALLOW_HOSTS: list(hostPort())
    .default([])
    .describe(
      'Exact host:port pairs that callbacks and media may reach over plain HTTP or inside the network.',
    ),

  // The worker.
  WORKER_CACHED_WORKFLOWS_MAX: whole(10, 1_000_000)
    .default(2_000)
    .describe('Workflows a worker keeps in memory, about 250 KB each.'),
  WORKER_ACTIVITY_SLOTS: whole(1, 10_000)
    .default(100)
    .describe('Activities of tasks a worker runs at once.'),
  WORKER_CALLBACK_SLOTS: whole(1, 10_000)
    .default(50)
    .describe('Callback attempts a worker runs at once.'),
  WORKER_DEPLOYMENT_NAME: text()
    .default('video-generation-service')
    .describe('Deployment name for worker versioning; used with a build id only.'),
  WORKER_BUILD_ID: orNone(text()).describe(
    'Build id for worker versioning: tasks stay on the build they began on. None: unversioned.',
  ),
  RECONCILE_INTERVAL_SECONDS: whole(1, 3_600)
    .default(60)
    .describe('Time between two rounds of the sweep.'),

  // The local studio.
  STUDIO_HOST: text().default('127.0.0.1').describe('Address the studio listens on.'),
  STUDIO_PORT: port().default(8090).describe('Port the studio listens on.'),
  STUDIO_PUBLIC_URL: orNone(origin()).describe('Address in the links the studio gives out.'),
  STUDIO_API_KEY: orNone(text(8))
    .describe('The key the studio takes from the gateway.')
    .meta(secret()),
  STUDIO_DATA_DIR: text()
    .default('.data/studio')
    .describe('Where the studio keeps jobs and videos.'),
  STUDIO_ADMIN_KEY: orNone(text(8))
    .describe('Key of the studio’s admin endpoint, for tests; none: there is no such endpoint.')
    .meta(secret()),
  STUDIO_RUNNING_MAX: whole(1, 10_000)
    .default(10)
    .describe('Jobs of one kind the studio runs at once; the others queue.'),
  STUDIO_RENDERS_MAX: whole(1, 64).default(2).describe('ffmpeg processes of the studio at once.'),
  STUDIO_URL: orNone(origin()).describe(
    'Where the gateway finds the studio; catalogue.yaml refers to it.',
  ),
  FFMPEG_PATH: orNone(text()).describe(
    'ffmpeg for the studio; none: from PATH, else the package’s.',
  ),

  // Development, logs, traces.
  DATA_DIR: text().default('.data').describe('Where `npm start` keeps everything.'),
  TEMPORAL_CLI: orNone(text()).describe(
    'Temporal’s command line program for `npm start` and the tests.',
  ),
  LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('Least severe log line that is written.'),
  LOG_FORMAT: choice(['json', 'pretty'])
    .default('json')
    .describe('One JSON object a line, or for people.'),
  COMMIT: text().default('unknown').describe('The commit this was built from, for /version.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: orNone(webUrl()).describe(
    'Collector of traces (OTLP over HTTP); none: no traces.',
  ),
});

type Table = z.infer<typeof table>;
export type SettingName = keyof Table;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;

/** The settings by their names in code: DATABASE_POOL_MAX is `databasePoolMax`. */
type Settings = { readonly [N in SettingName as CamelCase<N>]: Table[N] };

export interface Config extends Settings {
  /** The environment as it is, for what files of ours name by themselves: a catalogue's addresses and keys. */
  readonly environment: Environment;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a process cannot do without; for everything else there is a default or it is optional. */
const required = {
  api: ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'API_KEY_PEPPER'],
  worker: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  studio: ['STUDIO_API_KEY'],
  admin: [],
  migrate: ['DATABASE_URL', 'TEMPORAL_ADDRESS'],
  dev: [],
} as const satisfies Record<string, readonly SettingName[]>;

export type ProcessName = keyof typeof required;

/** A config of which some settings are known to be set. */
export type ConfigWith<N extends SettingName> = Config & {
  readonly [K in N as CamelCase<K>]: NonNullable<Table[K]>;
};
export type ConfigOf<P extends ProcessName> = ConfigWith<(typeof required)[P][number]>;

/** The sentences, one per fault, are all a person needs to mend the environment. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The environment cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export function readConfig<P extends ProcessName>(
  process: P,
  environment: Environment,
): ConfigOf<P> {
  const given = Object.fromEntries(
    // An empty value is an absent one: that is what compose files and shells make of an unset variable.
    Object.entries(environment).filter(
      ([name, value]) => Object.hasOwn(table.shape, name) && value !== '',
    ),
  );
  const checked = table.safeParse(given);
  const faults = checked.success
    ? []
    : checked.error.issues.map(({ path, message }) => faultOf(String(path[0]), message, given));
  for (const name of required[process]) {
    if (given[name] === undefined) faults.push(`${name} is not set. ${sentenceOf(name)}`);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  const values = Object.entries(checked.data ?? {}).map(([name, value]) => [
    camelCase(name),
    value,
  ]);
  return Object.freeze({
    ...Object.fromEntries(values),
    environment: Object.freeze({ ...environment }),
  }) as ConfigOf<P>;
}

/** Throws unless these are set too; for commands whose needs depend on what they were asked. */
export function demand<N extends SettingName>(config: Config, names: readonly N[]): ConfigWith<N> {
  const missing = names.filter((name) => {
    return (config as unknown as Record<string, unknown>)[camelCase(name)] === null;
  });
  if (missing.length > 0) {
    throw new ConfigError(missing.map((name) => `${name} is not set. ${sentenceOf(name)}`));
  }
  return config as ConfigWith<N>;
}

export interface SettingRow {
  readonly name: SettingName;
  readonly otherwise: string;
  readonly sentence: string;
  readonly secret: boolean;
}

/** The table for readers; README carries it, and a test compares the two. */
export function settingRows(): SettingRow[] {
  const defaults = table.parse({}) as Record<string, unknown>;
  return Object.entries(table.shape).map(([name, schema]) => ({
    name: name as SettingName,
    otherwise: defaults[name] === null ? '' : [defaults[name]].flat().join(','),
    sentence: schema.description ?? '',
    secret: schema.meta()?.secret === true,
  }));
}

function faultOf(name: string, wanted: string, given: Record<string, string | undefined>): string {
  const hidden = settingRows().some((row) => row.name === name && row.secret);
  return `${name} is ${hidden ? 'set to something else' : JSON.stringify(given[name])}; wanted: ${wanted}.`;
}

function sentenceOf(name: SettingName): string {
  return `It is: ${table.shape[name].description ?? ''}`;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
