// Every setting the service knows, in one table: its name in the environment, what it may be, what
// it is when nobody says, and a sentence about it. docs/settings.md shows the table; config.ts
// reads the environment with it.

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

export const table = z.object({
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
    .describe(
      'Creates of one account an API process has under way at once; of a burst most wait in line.',
    ),
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
  STUDIO_RENDERS_MAX: whole(1, 64)
    .default(2)
    .describe('How many ffmpeg processes the studio runs at once.'),
  STUDIO_URL: orNone(origin()).describe(
    'Where the gateway finds the studio; catalogue.yaml refers to it.',
  ),
  FFMPEG_PATH: orNone(text()).describe(
    'The ffmpeg of the studio; none: from PATH, else the package’s.',
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
