// This table contains every setting: the name of its variable, the accepted values, the default,
// and a description. docs/settings.md shows the table, and config.ts uses it to read the
// environment.

import { z } from 'zod';
import {
  choice,
  code,
  encryptionKeys,
  flag,
  hostPort,
  list,
  origin,
  orNone,
  port,
  secret,
  text,
  timeZone,
  url,
  webUrl,
  whole,
  zeroOrWhole,
} from './setting-kinds';

export const table = z.object({
  // Addresses of the API.
  HOST: text().default('127.0.0.1').describe('Address the API listens on.'),
  PORT: port().default(8080).describe('Port the API listens on; 0: any free port.'),
  PUBLIC_URL: orNone(origin()).describe(
    'Address at which callers reach the API; none: http://localhost and the port.',
  ),
  CORS_ORIGINS: list(origin())
    .default([])
    .describe('Web pages, by origin, that may call the API from a browser.'),
  PLAYGROUND: flag().default(false).describe('Serves the playground page at /.'),
  SHAPES: list(choice(['openai', 'ark', 'mcp', 'none']))
    .default(['openai', 'ark', 'mcp'])
    .transform((names) => names.flatMap((name) => (name === 'none' ? [] : [name])))
    .describe(
      'The forms of other services that the API speaks besides its own; none: only its own.',
    ),
  METRICS_HOST: text()
    .default('127.0.0.1')
    .describe(
      'Address of /metrics, which shows held money, models and channels without a key. A name stands for its addresses on this machine, and 127.0.0.1.',
    ),
  METRICS_PORT: orNone(port()).describe(
    'Port of /metrics, and of /livez and /readyz of a worker; none: they are not served. Each process needs its own.',
  ),

  // The console of operators.
  CONSOLE_HOST: text()
    .default('127.0.0.1')
    .describe('Address the console listens on. Only operators may reach it.'),
  CONSOLE_PORT: port().default(8085).describe('Port the console listens on.'),
  CONSOLE_URL: orNone(origin()).describe(
    'Address at which operators reach the console, with a host name that nothing else has; none: http://localhost and the port.',
  ),

  // Database, Temporal and catalogue.
  DATABASE_URL: orNone(url('postgres', 'postgresql'))
    .describe('The PostgreSQL database.')
    .meta(secret()),
  DATABASE_POOL_MAX: whole(2, 500)
    .default(10)
    .describe(
      'Maximum number of connections to PostgreSQL per process; the calls of one account use at most half of an API process’s.',
    ),
  DATABASE_API_ROLE: orNone(text()).describe(
    'Role of the API, to which `admin migrate` grants what the API needs and nothing else; none: nothing is granted.',
  ),
  DATABASE_WORKER_ROLE: orNone(text()).describe(
    'Role of the worker, to which `admin migrate` grants what the worker needs.',
  ),
  DATABASE_OPERATOR_ROLE: orNone(text()).describe(
    'Role of the console and of the other admin commands, to which `admin migrate` grants what they need.',
  ),
  TEMPORAL_ADDRESS: orNone(hostPort()).describe('The Temporal server, as host:port.'),
  TEMPORAL_NAMESPACE: text().default('default').describe('The namespace in Temporal.'),
  TEMPORAL_TLS: flag()
    .default(false)
    .describe(
      'Connects to Temporal with TLS; an API key and each TEMPORAL_TLS_… setting imply this.',
    ),
  TEMPORAL_TLS_CA: orNone(text())
    .describe('Certificate of the authority that signed Temporal’s, as PEM.')
    .meta(secret()),
  TEMPORAL_TLS_CERT: orNone(text())
    .describe('Client certificate for Temporal, as PEM, with TEMPORAL_TLS_KEY.')
    .meta(secret()),
  TEMPORAL_TLS_KEY: orNone(text())
    .describe('Private key of the client certificate, as PEM.')
    .meta(secret()),
  TEMPORAL_TLS_SERVER_NAME: orNone(text()).describe(
    'Name in Temporal’s certificate, if it is not that of TEMPORAL_ADDRESS.',
  ),
  TEMPORAL_API_KEY: orNone(text()).describe('API key of a hosted Temporal.').meta(secret()),
  ENCRYPTION_KEYS: encryptionKeys()
    .default([])
    .describe(
      'Encrypts what tasks store in Temporal. id:key pairs; the first key encrypts, the others only decrypt; none: no encryption.',
    )
    .meta(secret()),
  TEMPORAL_TASK_QUEUE: text()
    .default('video')
    .describe('Task queue that API and worker share; recorded in running tasks.'),
  TEMPORAL_UI_URL: orNone(webUrl()).describe('Temporal’s Web UI, for links to a task’s workflow.'),
  CODEC_HOST: text()
    .default('127.0.0.1')
    .describe('Address of the codec process. A caller that reaches it can decrypt every payload.'),
  CATALOGUE_FILE: text()
    .default('catalogue.yaml')
    .describe('File with models, channels and prices; read again on SIGHUP.'),

  // Accounts and money.
  CURRENCY: code().default('CNY').describe('The one currency of all amounts.'),
  REPORTS_TIME_ZONE: timeZone()
    .default('UTC')
    .describe(
      'Time zone of the days and months in reports of usage; after a change run `admin usage rebuild`.',
    ),

  // Storage of files.
  STORAGE_DIR: text()
    .default('.data/files')
    .describe(
      'Folder of stored files, which API and worker share; with a bucket: folder of bytes before their transfer.',
    ),
  S3_BUCKET: orNone(text()).describe(
    'Bucket of stored files, used for nothing else; none: they are in the folder.',
  ),
  S3_ENDPOINT: orNone(webUrl()).describe(
    'Address of the S3-compatible service, such as https://s3.eu-central-1.amazonaws.com.',
  ),
  S3_REGION: text().default('us-east-1').describe('Region in the signatures of requests to S3.'),
  S3_ACCESS_KEY_ID: orNone(text()).describe('Access key of the bucket.').meta(secret()),
  S3_SECRET_ACCESS_KEY: orNone(text()).describe('Secret of the access key.').meta(secret()),
  S3_PATH_STYLE: flag()
    .default(true)
    .describe('Names the bucket in the path of requests to S3; false: in the host name.'),
  FILES_KEPT_DAYS: whole(1, 36_500)
    .default(30)
    .describe(
      'Days for which results and uploaded files are kept, unless an account has `files_kept_days` of its own.',
    ),
  TASKS_KEPT_DAYS: zeroOrWhole(35, 36_500)
    .default(400)
    .describe(
      'Days for which ended tasks are kept, and at least as long as their results, unless an account has `tasks_kept_days` of its own; 0: for ever.',
    ),
  UPLOADS_MAX: whole(0, 1_000_000).default(1_000).describe('Uploaded files an account may have.'),
  UPLOADED_BYTES_MAX: whole(0, 999_999_999_999_999)
    .default(10_000_000_000)
    .describe('Bytes of uploaded files an account may have.'),
  FILES_DELIVERY: choice(['proxy', 'redirect'])
    .default('proxy')
    .describe(
      'Links to files answer with the bytes (`proxy`), or lead to the storage for an hour (`redirect`); callers must then reach `S3_ENDPOINT`.',
    ),

  // Limits of the API.
  CREATE_RATE_PER_SECOND: whole(1, 100_000)
    .default(50)
    .describe(
      'Tasks a key may create per second in each API process; refused creates count, replays do not. Changes, quotes and uploads are limited in proportion.',
    ),
  READ_RATE_PER_SECOND: whole(1, 1_000_000)
    .default(2_000)
    .describe(
      'Reads of single tasks and files per second and key; lists are limited to a hundredth.',
    ),
  UNKNOWN_RATE_PER_SECOND: whole(1, 100_000)
    .default(10)
    .describe('Look-ups of unknown keys, tasks and files per second and address.'),
  CONNECTIONS_MAX: whole(10, 1_000_000)
    .default(5_000)
    .describe(
      'Connections an API process accepts at once, up to 115 KB each; one address and the calls of one account get at most a quarter.',
    ),
  TRUSTED_PROXIES: whole(0, 10)
    .default(0)
    .describe(
      'Number of proxies in front of the API; with 2, the address of a caller is the second from the end of `X-Forwarded-For`.',
    ),
  QUEUED_TASKS_MAX: whole(1, 10_000_000)
    .default(10_000)
    .describe('Unfinished tasks an account may have, unless it has a `queued_max` of its own.'),
  DANGEROUSLY_ALLOW_HOSTS: list(hostPort())
    .default([])
    .describe(
      'Exact host:port pairs that callers may name for callbacks and media, over plain HTTP or inside the network.',
    ),
  DANGEROUSLY_ALLOW_PROVIDER_HOSTS: list(hostPort())
    .default([])
    .describe(
      'Exact host:port pairs of results and stored files that providers and the service may exchange, over plain HTTP or inside the network.',
    ),

  // The worker.
  WORKER_CACHED_WORKFLOWS_MAX: whole(10, 1_000_000)
    .default(2_000)
    .describe('Workflows a worker keeps in memory, about 250 KB each.'),
  WORKER_ACTIVITY_SLOTS: whole(1, 10_000)
    .default(100)
    .describe(
      'Task activities a worker runs at once, at most half of them copies of results; half as many callback attempts run beside them.',
    ),
  WORKER_DEPLOYMENT_NAME: text()
    .default('video-generation-service')
    .describe('Deployment name for worker versioning; used with a build id only.'),
  WORKER_BUILD_ID: orNone(text()).describe(
    'Build id for worker versioning: tasks stay on the build on which they began. None: unversioned.',
  ),
  RECONCILE_INTERVAL_SECONDS: whole(1, 3_600)
    .default(60)
    .describe('Time between two runs of the reconciler.'),

  // The local studio.
  STUDIO_HOST: text().default('127.0.0.1').describe('Address the studio listens on.'),
  STUDIO_PORT: port().default(8090).describe('Port the studio listens on.'),
  STUDIO_PUBLIC_URL: orNone(origin()).describe(
    'Address in the links the studio gives out, at which workers fetch the results.',
  ),
  STUDIO_SAMPLES_URL: orNone(origin()).describe(
    'Address in the links to the studio’s samples, for browsers; none: STUDIO_PUBLIC_URL.',
  ),
  STUDIO_API_KEY: orNone(text(8))
    .describe('The key with which the service calls the studio, and tests its admin endpoint.')
    .meta(secret()),
  STUDIO_URL: orNone(origin()).describe(
    'Address of the studio for the service; catalogue.yaml refers to it.',
  ),
  FFMPEG_PATH: orNone(text()).describe(
    'The ffmpeg of the studio; none: from PATH, else the package’s.',
  ),

  // Development, logs, traces.
  DATA_DIR: text()
    .default('.data')
    .describe('Folder in which `npm start` keeps its data; the studio uses its folder `studio`.'),
  TEMPORAL_CLI: orNone(text()).describe(
    'Temporal’s command line program for `npm start` and the tests.',
  ),
  LOG_LEVEL: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('Lowest level of log lines that are written.'),
  LOG_FORMAT: choice(['json', 'pretty'])
    .default('json')
    .describe('`json`: one object per line; `pretty`: for people.'),
  COMMIT: orNone(text()).describe(
    'The commit this was built from, for /version; none: that of the cloned folder, else `unknown`.',
  ),
});
