// Compares Dockerfile and docker-compose.yml with the process table, the settings, the catalogue
// and the files of the project. The test finds wrong names in both files without a container
// engine.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { type ProcessName, readConfig, settingRows } from '../../src/config/config';
import { heapEnvironment, heapFlags } from '../../src/dev-stack/parts';
import { allOf, environmentIn, stageOf } from '../support/dockerfile';
import { codeOf, filesIn, read, root } from './sources';

interface Network {
  readonly aliases?: readonly string[];
}

interface Service {
  readonly image: string;
  readonly build?: { readonly target: string };
  readonly command?: string | readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly networks?: readonly string[] | Readonly<Record<string, Network | null>>;
  readonly read_only?: boolean;
  readonly mem_limit?: string;
  readonly memswap_limit?: string;
  readonly init?: boolean;
  readonly deploy?: { readonly replicas?: string };
  readonly pids_limit?: number;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
}

const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true, maxAliasCount: 1_000 }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly configs?: unknown;
};
const { services } = compose;
const isOurs = ({ image }: Service) => image.includes('video-generation-');
const ours = Object.entries(services).filter(([, service]) => isOurs(service));
const channelKeys = keysOfChannels();
/** Variables of the compose files that are no settings of the service. */
const ofCompose = [
  'COMPOSE_FILE',
  'SITE',
  'API_PORT',
  'TLS_PORT',
  'TEMPORAL_UI_PORT',
  'CODEC_PORT',
  'SAMPLES_PORT',
  'PROMETHEUS_PORT',
  'ALERTMANAGER_PORT',
  'GRAFANA_PORT',
  'IMAGE_PREFIX',
  'TAG',
  'NEXT_TAG',
  'STUDIO_TAG',
  'WORKERS',
  'POSTGRES_PASSWORD',
  'DATABASE_OWNER_PASSWORD',
  'DATABASE_API_PASSWORD',
  'DATABASE_WORKER_PASSWORD',
  'DATABASE_API_URL',
  'DATABASE_WORKER_URL',
  'DATABASE_OPERATOR_PASSWORD',
  'DATABASE_BACKUP_PASSWORD',
  'TEMPORAL_DATABASE_PASSWORD',
  'DATABASE_OWNER_URL',
  'DATABASE_OPERATOR_URL',
  'CONSOLE_TRUSTED_PROXIES',
  'API_MEMORY',
  'API_HEAP_MB',
  'WORKER_MEMORY',
  'WORKER_HEAP_MB',
  'POSTGRES_MEMORY',
  'TEMPORAL_MEMORY',
  'CATALOGUE_FOLDER',
  'BACKUP_FOLDER',
  'BACKUP_KEEP_DAYS',
  'BACKUP_INTERVAL_HOURS',
  'ALERTMANAGER_FILE',
];
const settings = new Set<string>(settingRows().map(({ name }) => name));
// The list of processes is read as text, because an import of src/main.ts would start a process.
const table = [...codeOf('src/main.ts').matchAll(/^ {2}(\w+): \{\n {4}about:/gm)].map(
  ([, name]) => name,
);

const person = {
  TAG: 'a1',
  POSTGRES_PASSWORD: 'superuser-password',
  DATABASE_OWNER_PASSWORD: 'owner-password',
  DATABASE_API_PASSWORD: 'api-password',
  DATABASE_WORKER_PASSWORD: 'worker-password',
  DATABASE_OPERATOR_PASSWORD: 'operator-password',
  DATABASE_BACKUP_PASSWORD: 'backup-password',
  TEMPORAL_DATABASE_PASSWORD: 'temporal-password',
  STUDIO_API_KEY: 'studio-key',
  ENCRYPTION_KEYS: `a:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * Replaces `${NAME}`, `${NAME:-otherwise}` and `${NAME:?text}` as compose does, inner ones first.
 */
function fill(text: string, given: Readonly<Record<string, string>>): string {
  const variable = /\$\{(\w+)(?::([-?])([^{}]*))?\}/g;
  const filled = text.replace(variable, (_, name: string, kind, rest: string) => {
    const value = given[name];
    if (value) return value;
    if (kind === '?') throw new Error(`${name} is missing: ${rest}`);
    return kind === '-' ? rest : '';
  });
  return filled === text ? text : fill(filled, given);
}

function environmentOf(name: string, given: Readonly<Record<string, string>> = person) {
  const entries = Object.entries(services[name]?.environment ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, fill(String(value), given)]));
}

function networksOf(name: string): string[] {
  const { networks = [] } = services[name] ?? {};
  return Array.isArray(networks) ? [...networks] : Object.keys(networks);
}

function aliasesIn(network: string, name: string): readonly string[] {
  const { networks = {} } = services[name] ?? {};
  return (networks as Readonly<Record<string, Network | null>>)[network]?.aliases ?? [];
}

/** Returns the name of the process: the argument after dist/src/main.js. */
function processOf(name: string): ProcessName {
  const { entrypoint, command = [] } = services[name] as Service;
  return (entrypoint?.[2] ?? command[0]) as ProcessName;
}

describe('docker-compose.yml', () => {
  test('the list of processes that this test reads from the code is complete', () => {
    expect(table).toEqual(['api', 'worker', 'studio', 'codec', 'console', 'admin', 'dev']);
  });

  test('the service api-2 is defined like the service api', () => {
    const { networks: _, ...first } = services.api as Service;
    const { networks: __, ...second } = services['api-2'] as Service;
    expect(second).toEqual(first);
    expect(networksOf('api-2')).toEqual(networksOf('api'));
  });

  test('the service worker-next differs from the service worker only in its build and its profile', () => {
    const {
      networks: _,
      image,
      environment,
      profiles,
      ...next
    } = services['worker-next'] as Service;
    const present = services.worker as Service;
    expect(present).toMatchObject(next);
    expect(networksOf('worker-next')).toEqual(networksOf('worker'));
    const { WORKER_BUILD_ID: build, ...rest } = environment ?? {};
    const { WORKER_BUILD_ID: __, ...same } = present.environment ?? {};
    expect(rest).toEqual(same);
    expect([profiles, image]).toEqual([
      ['next'],
      `\${IMAGE_PREFIX:-}video-generation-service:${build}`,
    ]);
  });

  test.each(ours.map(([name]) => name))('the service %s starts a process of the table', (name) => {
    expect(table).toContain(processOf(name));
    const { entrypoint } = services[name] as Service;
    if (entrypoint) expect(entrypoint.slice(0, 2)).toEqual(['node', 'dist/src/main.js']);
  });

  test.each(ours.map(([name]) => name))(
    'the service %s gets only settings that exist, and enough of them to start',
    (name) => {
      const { environment = {} } = services[name] as Service;
      const unknown = Object.keys(environment).filter(
        (key) => !settings.has(key) && !channelKeys.has(key) && key !== 'NODE_OPTIONS',
      );
      expect(unknown).toEqual([]);
      const config = readConfig(processOf(name), environmentOf(name));
      expect(config.playground).toBe(false);
    },
  );

  // For a new setting, add a line to x-settings if API and worker read the setting. Otherwise add
  // the line to the service that reads the setting.
  test('passes every setting of .env to a service, except the settings of development and of the image', () => {
    const ofDevelopment = ['DATA_DIR', 'TEMPORAL_CLI', 'FFMPEG_PATH'];
    // In .env each role has an address of its own, such as DATABASE_API_URL.
    const ofRoles = 'DATABASE_URL';
    const ofContainers = new Set([
      ...Object.keys(environmentIn(stageOf('base'))),
      ...['METRICS_HOST', 'METRICS_PORT', 'CODEC_HOST', 'CONSOLE_HOST', 'CONSOLE_PORT'],
    ]);
    const missing = [...settings]
      .filter((name) => ![ofRoles, ...ofDevelopment].includes(name) && !ofContainers.has(name))
      .filter((name) =>
        ours.every(([service]) => environmentOf(service, { ...person, [name]: '7' })[name] !== '7'),
      );
    expect(missing).toEqual([]);
  });

  test('gives api, worker and admin the same common settings', () => {
    // These settings differ. Only migrate gets the names of the roles, and each process gets the
    // address with the password of its own role.
    const own = /^DATABASE_(URL|API_ROLE|WORKER_ROLE|OPERATOR_ROLE)$/;
    const common = Object.fromEntries(
      Object.entries(services.migrate?.environment ?? {}).filter(([name]) => !own.test(name)),
    );
    expect(Object.keys(common).length).toBeGreaterThan(10);
    for (const name of ['api', 'worker', 'admin', 'console']) {
      expect(services[name]?.environment).toMatchObject(common);
    }
  });

  test('passes every setting of a limit or a rate to the service that reads the setting', () => {
    const limits = [...settings].filter((name) =>
      /_(PER_SECOND|MAX|BURST|TIMEOUT_MS|SLOTS|PROXIES|SECONDS)$/.test(name),
    );
    expect(limits.length).toBeGreaterThan(10);
    for (const limit of limits) {
      const expected = /^(WORKER|RECONCILE)_/.test(limit)
        ? 'worker'
        : limit.startsWith('STUDIO_')
          ? 'studio'
          : 'api';
      expect([limit, environmentOf(expected, { ...person, [limit]: '7' })[limit]]).toEqual([
        limit,
        '7',
      ]);
    }
  });

  test('gives the worker every channel key that our catalogues name', () => {
    expect(Object.keys(services.worker?.environment ?? {})).toEqual(
      expect.arrayContaining([...channelKeys]),
    );
  });

  test.each(['catalogue.yaml', 'catalogue.ark.yaml'])(
    'gives the worker all settings that %s needs',
    async (file) => {
      const environment = environmentOf('worker', { ...person, CATALOGUE_FILE: file });
      const { catalogueFile, currency } = readConfig('worker', environment);
      const catalogue = await readCatalogue(join(root, catalogueFile), environment);
      expect(catalogue.currency).toBe(currency);
    },
  );

  test('the console knows where links to files lead, and has no key of the bucket', () => {
    const bucket = { S3_BUCKET: 'videos', S3_ENDPOINT: 'https://s3.test', S3_PATH_STYLE: 'false' };
    const given = { ...person, ...bucket, FILES_DELIVERY: 'redirect', S3_SECRET_ACCESS_KEY: 'key' };
    const linksOf = (name: string) => {
      const { publicUrl, filesDelivery, s3Bucket, s3Endpoint, s3PathStyle } = readConfig(
        'console',
        environmentOf(name, given),
      );
      return { publicUrl, filesDelivery, s3Bucket, s3Endpoint, s3PathStyle };
    };
    expect(linksOf('console')).toEqual(linksOf('api'));
    expect(linksOf('console')).toMatchObject({ filesDelivery: 'redirect', s3Bucket: 'videos' });
    expect(environmentOf('console', given)).not.toHaveProperty('S3_SECRET_ACCESS_KEY');
  });

  test('allows no internal address by default', () => {
    for (const name of ['api', 'worker']) {
      expect(environmentOf(name).DANGEROUSLY_ALLOW_HOSTS).toBe('');
      const given = { ...person, DANGEROUSLY_ALLOW_HOSTS: 'studio:8090' };
      expect(environmentOf(name, given).DANGEROUSLY_ALLOW_HOSTS).toBe('studio:8090');
    }
  });

  test('every internal address names a service and the port on which that service listens', () => {
    const ports: Readonly<Record<string, string>> = {
      postgres: '5432',
      temporal: '7233',
      studio: environmentOf('studio').STUDIO_PORT ?? '',
    };
    const addresses = ours.flatMap(([name]) => {
      const {
        DATABASE_URL: database,
        TEMPORAL_ADDRESS: temporal,
        STUDIO_URL: studio,
      } = environmentOf(name);
      return [database, studio]
        .flatMap((url) => (url ? [new URL(url).host] : []))
        .concat(temporal ?? []);
    });
    expect(new Set(addresses)).toEqual(
      new Set(Object.entries(ports).map(([host, port]) => `${host}:${port}`)),
    );
  });

  test.each([
    ['api', 'PORT', '/readyz'],
    ['worker', 'METRICS_PORT', '/readyz'],
    ['studio', 'STUDIO_PORT', '/healthz'],
    ['console', 'CONSOLE_PORT', '/readyz'],
  ])(
    'the health check of the service %s calls an endpoint that the process serves',
    (name, setting, path) => {
      const { [setting]: port } = environmentOf(name);
      expect(services[name]?.healthcheck?.test).toEqual([
        ...['CMD', 'bash', '-c', expect.stringContaining('/dev/tcp/127.0.0.1/$$0')],
        ...[port, path],
      ]);
      const files = ['src', 'studio'].flatMap((folder) => filesIn(folder, '.ts'));
      expect(files.some((file) => codeOf(file).includes(`'${path}'`))).toBe(true);
    },
  );

  test('studio, console and codec publish the ports on which they listen', () => {
    const portsOf = (name: string) => services[name]?.ports?.map((line) => line.split(':').pop());
    expect(portsOf('studio')).toEqual([environmentOf('studio').STUDIO_PORT]);
    expect(portsOf('console')).toEqual([environmentOf('console').CONSOLE_PORT]);
    expect(codeOf('src/commands/codec.ts')).toContain(
      `const port = ${portsOf('codec')?.join() ?? ''};`,
    );
  });

  test('the proxy forwards calls to both APIs, and publishes the ports on which the proxy listens', () => {
    const caddyfile = read('deploy/compose/Caddyfile');
    const apis = ['api', 'api-2'].map((name) => `${name}:${environmentOf(name).PORT}`);
    expect(caddyfile).toContain(`reverse_proxy ${apis.join(' ')} {`);
    expect(caddyfile).toContain('{$SITE:localhost} {');
    const listened = services.proxy?.ports?.map((line) => fill(line, {}).split(':').pop());
    expect(listened).toEqual([/^http:\/\/:(\d+) \{/m.exec(caddyfile)?.[1], '443']);
    expect(environmentOf('api').TRUSTED_PROXIES).toBe('1');
  });

  test('the proxy does not reach the console, which is published to this machine only', () => {
    expect(read('deploy/compose/Caddyfile').match(/\breverse_proxy\b/g)).toHaveLength(1);
    const proxied = networksOf('proxy');
    expect(proxied.length).toBeGreaterThan(0);
    expect(networksOf('console').filter((name) => proxied.includes(name))).toEqual([]);
    for (const line of services.console?.ports ?? ['none']) expect(line).toMatch(/^127\.0\.0\.1:/);
  });

  test('the proxy gives up an idle connection before the API closes it', () => {
    const proxySeconds = Number(/\bkeepalive (\d+)s/.exec(read('deploy/compose/Caddyfile'))?.[1]);
    const ofApi =
      /keepAliveTimeout: ([\d_]+)/.exec(codeOf('src/commands/http-server.ts'))?.[1] ?? '';
    expect(proxySeconds * 1_000).toBeLessThan(Number(ofApi.replaceAll('_', '')));
  });

  test('no port is reachable from other machines unless public.yaml opens the proxy', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    const opened = parse(read('deploy/compose/public.yaml')) as typeof compose;
    expect(Object.keys(opened.services)).toEqual(['proxy']);
  });

  test.each([
    ['studio', ['postgres', 'temporal', 'proxy']],
    ['proxy', ['postgres', 'temporal', 'worker', 'prometheus']],
    ['prometheus', ['postgres', 'temporal', 'proxy', 'studio']],
    ['backup', ['temporal-ui', 'studio', 'proxy']],
    ['console', ['proxy', 'studio']],
  ])('the service %s shares no network with %j', (name, others) => {
    const shared = networksOf(name);
    expect(shared.length).toBeGreaterThan(0);
    for (const other of others) {
      expect([other, networksOf(other).filter((network) => shared.includes(network))]).toEqual([
        other,
        [],
      ]);
    }
  });

  test('PostgreSQL, Temporal, node-exporter and backup are on networks without internet access', () => {
    for (const name of ['postgres', 'temporal', 'node-exporter', 'backup']) {
      for (const network of networksOf(name)) {
        expect([name, compose.networks[network]?.internal]).toEqual([name, true]);
      }
    }
    const used = new Set(Object.keys(services).flatMap(networksOf));
    expect([...used].sort()).toEqual(Object.keys(compose.networks).sort());
  });

  test.each(Object.keys(services))(
    'the service %s has resource limits, no swap, no capabilities and a read-only file system',
    (name) => {
      const service = services[name] as Service;
      expect(service).toMatchObject({ cap_drop: ['ALL'], pids_limit: expect.any(Number) });
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect(fill(String(service.mem_limit), {})).toMatch(/^\d+[mg]$/);
      expect(Object.keys(service.logging?.options ?? {})).toEqual(['max-size', 'max-file']);
      expect(service.memswap_limit).toBe(service.mem_limit);
      expect(service.read_only).toBe(true);
    },
  );

  test('the heap of api and worker is limited to three quarters of their memory', () => {
    const megabytes = (text: string) => Number.parseFloat(text) * (text.endsWith('g') ? 1_024 : 1);
    for (const name of ['api', 'worker']) {
      const memory = megabytes(fill(services[name]?.mem_limit ?? '', {}));
      expect(environmentOf(name).NODE_OPTIONS).toBe(`--max-old-space-size=${memory * 0.75}`);
    }
  });

  // Engines refuse to write the content of a config into a container whose root is read-only.
  test('mounts files of the project, and writes no content into containers', () => {
    expect(compose.configs).toBeUndefined();
  });

  test('every mounted file and folder of the project exists', () => {
    const mounted = Object.values(services)
      .flatMap(({ volumes = [] }) => volumes)
      .map((volume) => fill(volume, {}).split(':')[0] ?? '')
      .filter((source) => source.startsWith('./') && source !== './catalogue');
    expect(mounted.length).toBeGreaterThan(4);
    expect(mounted.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });

  test('Prometheus scrapes only services and ports that exist', () => {
    const { scrape_configs: jobs, alerting } = parse(read('ops/prometheus.yaml')) as {
      scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
      alerting: { alertmanagers: { dns_sd_configs: { names: string[] }[] }[] };
    };
    const asked = jobs.flatMap(({ dns_sd_configs: found }) => found);
    expect(asked.map(({ names, port }) => [names, port])).toEqual([
      [['api'], Number(environmentOf('api').METRICS_PORT)],
      [['worker'], Number(environmentOf('worker').METRICS_PORT)],
      [['node-exporter'], 9100],
    ]);
    expect(alerting.alertmanagers[0]?.dns_sd_configs[0]?.names).toEqual(['alertmanager']);
    for (const name of ['api', 'worker', 'node-exporter', 'alertmanager', 'grafana']) {
      expect(networksOf(name)).toContain('monitoring');
    }
    expect(aliasesIn('monitoring', 'api-2')).toEqual(['api', 'metrics']);
    expect(aliasesIn('monitoring', 'worker-next')).toEqual(['worker', 'metrics']);
  });

  test('metrics are served at a name that only the network of Prometheus knows', () => {
    for (const name of ['api', 'api-2', 'worker', 'worker-next']) {
      expect(environmentOf(name).METRICS_HOST).toBe('metrics');
      const known = networksOf(name).filter((one) => aliasesIn(one, name).includes('metrics'));
      expect([name, known]).toEqual([name, ['monitoring']]);
    }
  });

  test('every service that other services wait for has a health check or exits by itself', () => {
    for (const { depends_on: needed = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(needed)) {
        const service = services[name];
        if (condition === 'service_healthy') expect(service?.healthcheck?.test).toBeDefined();
        else expect([name, condition]).toEqual([name, 'service_completed_successfully']);
        if (condition !== 'service_healthy') expect(service?.restart).toMatch(/^on-failure/);
      }
    }
    expect(Object.keys(services.backup?.depends_on ?? {})).toEqual(['migrate']);
    expect(Object.keys(services.api?.depends_on ?? {})).toEqual(['migrate']);
    expect(Object.keys(services.worker?.depends_on ?? {})).toEqual(['migrate']);
  });

  test.each(Object.keys(services))(
    'the service %s has a restart policy, and its image has a version',
    (name) => {
      const service = services[name] as Service;
      const { restart, image } = service;
      const ends = ['admin', 'temporal-cli'].includes(name);
      expect(restart).toMatch(ends ? /^no$/ : /^(unless-stopped|on-failure:\d+)$/);
      if (!isOurs(service))
        expect(image).toMatch(/^[\w/-]+:v?\d+\.\d+(\.\d+)?(-\w+)?(@sha256:[0-9a-f]{64})?$/);
    },
  );

  test('all persistent data is on volumes', () => {
    // From release 18 on, the image of PostgreSQL stores its data in a subfolder of this folder.
    expect(services.postgres?.volumes).toContain('postgres:/var/lib/postgresql');
    expect(services.studio?.volumes).toEqual(['studio:/data']);
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const named = mounted
      .map((volume) => fill(volume, {}).split(':')[0] ?? '')
      .filter((source) => /^\w/.test(source));
    expect(new Set(named)).toEqual(new Set(Object.keys(compose.volumes)));
    expect(environmentOf('studio').DATA_DIR).toBe('/data');
  });

  test.each(['api', 'worker', 'admin'])(
    'the service %s shares the folder of stored files',
    (name) => {
      expect(services[name]?.volumes).toContain('files:/data');
      expect(environmentOf(name).STORAGE_DIR).toBe('/data/files');
    },
  );

  test('Temporal has the same fairness limits as the development server', () => {
    const target = services.temporal?.environment?.DYNAMIC_CONFIG_FILE_PATH ?? '';
    expect(services.temporal?.volumes).toEqual([`./ops/temporal.yaml:${target}:ro`]);
    const content = parse(read('ops/temporal.yaml')) as Record<string, [{ value: unknown }]>;
    const given = Object.entries(content).map(([key, [{ value }]]) => [key, value]);
    const embedded = /const dynamicConfig = (\{[^}]*\})/.exec(codeOf('src/embedded/temporal.ts'));
    const wanted = parse((embedded?.[1] ?? '').replace(/(\d)_(?=\d)/g, '$1')) as object;
    expect(Object.fromEntries(given)).toEqual(wanted);
    expect(wanted).toMatchObject({ 'matching.enableFairness': true });
  });

  test('each service gets only the password of its own database role', () => {
    const knows = (name: string) => {
      const environment = Object.entries(environmentOf(name));
      const secrets = [...Object.values(person)].filter((value) => value.endsWith('-password'));
      return secrets.filter((secret) => environment.some(([, value]) => value.includes(secret)));
    };
    const { DATABASE_API_PASSWORD: ofApi, DATABASE_WORKER_PASSWORD: ofWorker } = person;
    const { DATABASE_OWNER_PASSWORD: owner } = person;
    expect(['api', 'worker', 'worker-next'].map(knows)).toEqual([[ofApi], [ofWorker], [ofWorker]]);
    expect(knows('migrate')).toEqual([owner]);
    expect(knows('admin')).toEqual([person.DATABASE_OPERATOR_PASSWORD]);
    expect(knows('console')).toEqual([person.DATABASE_OPERATOR_PASSWORD]);
    expect(knows('backup')).toEqual([person.DATABASE_BACKUP_PASSWORD]);
    expect(environmentOf('backup').PGUSER).toBe('video_backup');
    expect(knows('temporal')).toEqual([person.TEMPORAL_DATABASE_PASSWORD]);
    expect(knows('temporal-schema')).toEqual([person.TEMPORAL_DATABASE_PASSWORD]);
    expect(knows('studio')).toEqual([]);
  });

  test('contains no secret, and compose reports a missing secret', () => {
    const hidden = /PASSWORD|API_KEY$|_PWD/;
    for (const { environment = {} } of Object.values(services)) {
      for (const [key, value] of Object.entries(environment)) {
        if (hidden.test(key))
          expect([key, value]).toEqual([key, expect.stringMatching(/^\$\{\w+:[?-].*\}$/)]);
      }
    }
    expect(composeText).not.toMatch(/(?:KEY|PASSWORD|SECRET)\w*:-[^}]/);
    expect(() => environmentOf('api', {})).toThrow(/DATABASE_API_PASSWORD is missing: \w+ \w+/);
  });

  test('every variable that is no setting is in a page or at the head of hosted.yaml', () => {
    const pages = [...filesIn('docs', '.md'), 'deploy/compose/hosted.yaml'].map(read).join('');
    expect(ofCompose.filter((name) => !pages.includes(name))).toEqual([]);
  });

  test('every published port can be changed', () => {
    const fixed = Object.values(services)
      .flatMap(({ ports = [] }) => ports)
      .filter((port) => !/^127\.0\.0\.1:\$\{[A-Z_]+_PORT:-\d+\}:\d+$/.test(port));
    expect(fixed).toEqual([]);
  });

  test('a folder of another name finds the same data', () => {
    expect(compose).toMatchObject({ name: 'video-generation' });
  });

  test('every variable is a setting, the key of a channel, or a variable of compose itself', () => {
    const own = new Set([...ofCompose, ...channelKeys]);
    const used = [...composeText.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !own.has(name) && !settings.has(name))).toEqual([]);
  });
});

test('deploy/compose/keys.yaml gives every worker the same additional channel key', () => {
  const { services: given } = parse(read('deploy/compose/keys.yaml')) as typeof compose;
  const workers = Object.keys(services).filter((name) => services[name]?.command?.[0] === 'worker');
  expect(Object.keys(given)).toEqual(workers);
  for (const name of workers) {
    expect(Object.keys(given[name]?.environment ?? {})).toEqual(['ARK_INTL_API_KEY']);
  }
});

describe('the .env files of docs/operations.md and of a trial', () => {
  const shown = ['docs/operations.md', 'deploy/compose/trial.sh'].flatMap((path) => [
    ...read(path).matchAll(/^cat > \.env <<END\n([\s\S]*?)^END$/gm),
  ]);
  const files = shown.map(([, text = '']) => {
    const lines = text
      .trim()
      .replaceAll(/\$\(openssl[^)]*\)/g, 'a'.repeat(48))
      .split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  });
  const configOf = (name: string, given: Readonly<Record<string, string>> = {}) =>
    readConfig(processOf(name), environmentOf(name, given));

  test('contain only settings and channel keys, and each process can start with these files', () => {
    expect(files).toHaveLength(2);
    for (const [index, file] of files.entries()) {
      const names = Object.keys(file).filter((name) => !ofCompose.includes(name));
      expect(names.filter((name) => !settings.has(name) && !channelKeys.has(name))).toEqual([]);
      for (const [name, { profiles = [] }] of ours) {
        if (index === 0 && profiles.includes('demo')) continue;
        // The codec needs an encryption key. A first installation has none.
        if (profiles.includes('codec')) continue;
        expect(() => configOf(name, file)).not.toThrow();
      }
    }
  });

  test('enable the playground and allow the host of the studio in the demo', () => {
    const demo = files[1];
    const api = configOf('api', demo);
    expect([api.playground, api.publicUrl]).toEqual([true, 'http://127.0.0.1:8080']);
    const studio = environmentOf('studio', demo);
    // Callers may name the samples, and only the worker may reach the studio inside the network.
    const { host: samples } = new URL(studio.STUDIO_SAMPLES_URL ?? '');
    expect(api.dangerouslyAllowHosts).toEqual([samples]);
    const { host: inside } = new URL(studio.STUDIO_PUBLIC_URL ?? '');
    expect(configOf('worker', demo).dangerouslyAllowProviderHosts).toEqual([inside]);
    // A worker fetches results from the service itself, and a browser samples from this machine.
    expect(studio.STUDIO_PUBLIC_URL).toBe(environmentOf('worker', demo).STUDIO_URL);
    const published = services.studio?.ports?.map((port) => fill(port, {}));
    expect(published).toEqual([`${samples}:${studio.STUDIO_PORT}`]);
    expect(environmentOf('worker', demo).STUDIO_API_KEY).toBe(studio.STUDIO_API_KEY);
  });
});

describe('commands in the documents', () => {
  const documented = [...filesIn('.', '.md'), 'docker-compose.yml'].flatMap((path) => [
    ...read(path).matchAll(/docker compose [^`\n]*/g),
  ]);
  const named = (pattern: RegExp) =>
    documented.flatMap(([line]) => [...line.matchAll(pattern)].map(([, name = '']) => name));

  // The engine takes such a signal for a stop by hand, and no longer restarts the container.
  test('send signals inside of the containers', () => {
    expect(read('docs/operations.md')).not.toMatch(/^docker (compose )?kill/m);
  });

  test('leave the number of workers to WORKERS, which a deploy keeps', () => {
    expect(documented.filter(([line]) => line.includes('--scale'))).toEqual([]);
    const { replicas = '' } = services.worker?.deploy ?? {};
    expect([fill(replicas, {}), fill(replicas, { WORKERS: '4' })]).toEqual(['2', '4']);
  });

  test('name existing services and profiles', () => {
    const servicesTold = [
      ...named(/--scale (\S+?)=/g),
      ...named(/ run (?:-\S+ )*([a-z][a-z0-9-]*)/g),
      ...named(/ (?:exec|logs|restart|kill|stop|up) (?:-\S+ )*([a-z][a-z0-9-]*)/g),
    ];
    expect(servicesTold).toEqual(expect.arrayContaining(['worker', 'admin']));
    expect(servicesTold.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
    const profiles = new Set(Object.values(services).flatMap((service) => service.profiles ?? []));
    expect(named(/--profile (\S+)/g).filter((name) => !profiles.has(name))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const [build, packages, base, studio, service] = [
    'build',
    'packages',
    'base',
    'studio',
    'service',
  ].map(stageOf) as [string[], string[], string[], string[], string[]];
  const lines = [...build, ...packages, ...base, ...studio, ...service];
  const from = (stage: string[]) =>
    allOf(stage, 'FROM').map((line) => line.replace(/^--platform=\S+ /, ''));
  const ignored = read('.dockerignore').split('\n');
  const environment = environmentIn(base);

  test('every stage uses the same pinned version of Node 24', () => {
    const images = new Set([build, packages, base].flatMap(from).map(firstWord));
    expect([...images]).toEqual([
      expect.stringMatching(/^node:24\.\d+\.\d+-bookworm-slim(@sha256:[0-9a-f]{64})?$/),
    ]);
    expect([studio, service].flatMap(from).map(firstWord)).toEqual(['base', 'base']);
  });

  test('for another processor, nothing of Node runs on the emulator', () => {
    for (const stage of [build, packages])
      expect(allOf(stage, 'FROM')[0]).toMatch(/^--platform=\$\{BUILDPLATFORM:-linux\} node:/);
    const emulated = [...base, ...studio, ...service];
    expect(allOf(emulated, 'FROM').join()).not.toContain('--platform');
    const commands = allOf(emulated, 'RUN').flatMap((line) => line.split('&&'));
    expect(new Set(commands.map((command) => firstWord(command.trim())))).toEqual(
      new Set(['rm', 'install']),
    );
  });

  test('the last stage is the service, because docker builds the last stage by default', () => {
    const stages = [...read('Dockerfile').matchAll(/^FROM \S+ AS (\w+)$/gm)];
    expect(stages.at(-1)?.[1]).toBe('service');
  });

  test('each image is built by one service, and a new tag of the service leaves the studio as it is', () => {
    const built = ours.flatMap(([name, { build }]) => (build ? [[name, build.target]] : []));
    expect(built).toEqual([
      ['migrate', 'service'],
      ['studio', 'studio'],
    ]);
    const tagOf = (name: string) => fill(services[name]?.image ?? '', { TAG: 'a1' });
    expect(ours.map(([name]) => tagOf(name)).filter((image) => image.endsWith(':a1'))).toHaveLength(
      ours.length - 2,
    );
    expect(tagOf('studio')).toBe('video-generation-studio:local');
    const published = { IMAGE_PREFIX: 'example.com/video/', TAG: '1.2.3' };
    expect(fill(services.api?.image ?? '', published)).toBe(
      'example.com/video/video-generation-service:1.2.3',
    );
  });

  test('every process of ours has a process 1 that passes signals on', () => {
    for (const [name, { init }] of ours) expect([name, init]).toEqual([name, true]);
  });

  test('only the image of the studio contains ffmpeg and the packages that render', () => {
    const [aside = ''] = /mv \S.* studio_modules\//.exec(allOf(packages, 'RUN').join('\n')) ?? [];
    expect(aside.match(/(?<=node_modules\/)\S+/g)).toEqual([
      ...['sharp', '@img', 'dejavu-fonts-ttf', '@ffmpeg-installer'],
    ]);
    expect(allOf(studio, 'COPY')).toEqual([
      '--from=packages /app/studio_modules node_modules',
      '--from=build /app/studio/NOTICE ./',
    ]);
    expect([...base, ...service].join()).not.toMatch(/ffmpeg|studio_modules/);
  });

  // So an image has no cache of a package manager, and its content does not depend on the day.
  test('no stage installs packages of the system', () => {
    expect(allOf(lines, 'RUN').filter((line) => /\b(apt|apt-get|dpkg)\b/.test(line))).toEqual([]);
  });

  test('every copied file exists and is not ignored by .dockerignore', () => {
    const copied = allOf(lines, 'COPY')
      .filter((line) => !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(0, -1));
    expect(copied.length).toBeGreaterThan(10);
    for (const path of new Set(copied)) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    }
    expect(ignored).toContain('*');
    expect(ignored.filter((line) => line.startsWith('!')).sort()).toEqual(
      [...new Set(copied)].map((path) => `!${path}`).sort(),
    );
  });

  test('all built folders are copied into the image', () => {
    const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
    const built = allOf(build, 'COPY').map((line) => line.split(' ').pop());
    expect(built).toEqual(expect.arrayContaining(include.filter((folder) => folder !== 'bench')));
    expect(base).toContain('COPY --from=build /app/dist dist');
  });

  test('the image starts the process that its argument names; without an argument, api or studio', () => {
    const [entry = ''] = allOf(base, 'ENTRYPOINT');
    expect(JSON.parse(entry)).toEqual([
      'node',
      '--enable-source-maps',
      ...heapFlags,
      'dist/src/main.js',
    ]);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const name of ['api', 'worker']) {
      expect(scripts[name]).toContain(heapFlags.join(' '));
      expect(scripts[name]).toContain(Object.entries(heapEnvironment)[0]?.join('='));
    }
    expect(environment).toMatchObject(heapEnvironment);
    expect(allOf(service, 'CMD')).toEqual(['["api"]']);
    expect(allOf(studio, 'CMD')).toEqual(['["studio"]']);
  });

  test('the image sets only settings that exist, and exposes the ports of these settings', () => {
    const { NODE_ENV: _, COMMIT: __, MALLOC_ARENA_MAX: ___, ...ofOurs } = environment;
    expect(Object.keys(ofOurs).filter((name) => !settings.has(name))).toEqual([]);
    expect(settings.has('COMMIT')).toBe(true);
    const config = readConfig('dev', ofOurs);
    expect(allOf(service, 'EXPOSE')).toEqual([String(config.port)]);
    expect(allOf(studio, 'EXPOSE')).toEqual([String(config.studioPort)]);
    expect(environmentIn(studio)).toEqual({ DATA_DIR: '/data' });
    expect(config.storageDir).toMatch(/^\/data\//);
    expect(allOf(base, 'VOLUME')).toEqual(['/data']);
  });

  test('the labels name the version, the license, the commit and the repository', () => {
    const [labels = ''] = allOf(base, 'LABEL');
    const { version, license } = JSON.parse(read('package.json')) as Record<string, string>;
    for (const [name, value] of [
      ['title', 'Video generation service'],
      ['licenses', license],
      ['version', '$VERSION'],
      ['revision', '$COMMIT'],
      ['source', '$SOURCE'],
    ]) {
      expect(labels).toContain(`org.opencontainers.image.${name}="${value}"`);
    }
    expect(allOf(base, 'ARG')).toEqual(['COMMIT=unknown', `VERSION=${version}`, 'SOURCE=']);
    expect(allOf(studio, 'LABEL')).toEqual([
      `org.opencontainers.image.licenses="${license} AND GPL-3.0-or-later"`,
    ]);
  });

  test('the image with ffmpeg says of both its packages which source they have', () => {
    const { packages: locked } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version: string }>;
    };
    for (const name of ['@ffmpeg-installer/linux-x64', '@ffmpeg-installer/linux-arm64'])
      expect(read('studio/NOTICE')).toContain(
        `: ${name} ${locked[`node_modules/${name}`]?.version}, version `,
      );
  });

  test('any user of the group of root can write to the volume', () => {
    expect(allOf(base, 'RUN').join()).toMatch(/install -d -o node -g root -m 0775 \/data$/);
  });

  test('no image contains a tool that installs packages', () => {
    const [removed = ''] = /^rm -rf (.*) &&/.exec(allOf(base, 'RUN').join()) ?? [];
    for (const name of ['lib/node_modules', 'bin/npm', 'bin/npx', 'bin/corepack', 'bin/yarn*']) {
      expect(removed).toContain(`/usr/local/${name}`);
    }
  });

  test('runs as an unprivileged user and has a health check', () => {
    const last = base.filter((line) => /^(USER|RUN) /.test(line)).at(-1);
    expect(last).toBe('USER node');
    for (const stage of [studio, service]) {
      expect(stage.filter((line) => /^(USER|RUN) /.test(line))).toEqual([]);
    }
    expect(allOf(service, 'HEALTHCHECK').join()).toContain('GET /livez ');
    expect(codeOf('src/gateway/health.routes.ts')).toContain("'/livez'");
  });

  test('runs no install scripts of packages', () => {
    const installs = [...allOf(build, 'RUN'), ...allOf(packages, 'RUN')].filter((line) =>
      line.includes('npm '),
    );
    expect(installs).toHaveLength(2);
    for (const line of installs) expect(line).toContain('npm ci');
    for (const line of installs) expect(line).toContain('--ignore-scripts');
    expect(installs[1]).toContain('--omit=dev');
  });
});

describe('package-lock.json', () => {
  test('has the checksum of every package, also of those for other platforms', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { integrity?: string; link?: boolean }>;
    };
    const without = Object.entries(packages).filter(
      ([path, { integrity, link }]) => path !== '' && !link && !integrity,
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });
});

describe('.github/workflows/check.yml', () => {
  test('runs npm test on the oldest supported Node', () => {
    const { jobs } = parse(read('.github/workflows/check.yml')) as {
      jobs: { test: { strategy: { matrix: { node: string[] } }; steps: { run?: string }[] } };
    };
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(jobs.test.steps.flatMap(({ run }) => run ?? [])).toEqual(['npm test']);
    expect(engines.node).toBe(`>=${jobs.test.strategy.matrix.node[0]}`);
  });

  test('uses every action by its commit', () => {
    const uses = read('.github/workflows/check.yml').match(/uses: .*/g) ?? [];
    expect(uses.length).toBeGreaterThan(5);
    for (const one of uses) expect(one).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('lists the packages and the content of the images, and scans both', () => {
    const { jobs } = parse(read('.github/workflows/check.yml')) as {
      jobs: Record<string, { steps: { run?: string; with?: { path?: string } }[] }>;
    };
    const stepsOf = (name: string) => jobs[name]?.steps.map((step) => step.run ?? step.with?.path);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts.sbom).toBe('node scripts/sbom.mjs');
    expect(stepsOf('packages')?.slice(-3)).toEqual([
      'npm run -s sbom > packages.cdx.json',
      'packages.cdx.json',
      'npm audit --omit=dev --audit-level=high',
    ]);
    expect(stepsOf('image')?.slice(-3)).toEqual([
      expect.stringMatching(/syft.* docker-archive:.*cyclonedx-json > sbom/s),
      'sbom',
      expect.stringMatching(/grype.* sbom:.*--fail-on high/s),
    ]);
  });
});

const firstWord = (line: string) => line.split(' ')[0];

function keysOfChannels(): Set<string> {
  const named = ['catalogue.yaml', 'catalogue.ark.yaml'].flatMap((file) => {
    const { channels } = parse(read(file), { merge: true }) as {
      channels: Record<string, { apiKeyEnv: string }>;
    };
    return Object.values(channels).map(({ apiKeyEnv }) => apiKeyEnv);
  });
  return new Set(named);
}
