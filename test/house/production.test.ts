// Dockerfile and docker-compose.yml, held against what they speak of: the process table, the
// settings, the catalogue, the files of the project. Nothing here needs a container engine; a name
// that is wrong in either file shows all the same.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadCatalogue } from '../../src/catalogue-file';
import { heapFlags } from '../../src/commands/stack-site';
import { type ProcessName, readConfig, settingRows } from '../../src/config';
import { codeOf, filesIn, read, root } from './sources';

interface Service {
  readonly image: string;
  readonly build?: unknown;
  readonly command?: string | readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
}

const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
};
const { services } = compose;
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);
const channelKeys = keysOfChannels();
const settings = new Set<string>(settingRows().map(({ name }) => name));
// The one place where processes are listed; read as text, for loading it would start one.
const table = [...codeOf('src/main.ts').matchAll(/^ {2}(\w+): \{\n {4}about:/gm)].map(
  ([, name]) => name,
);

const secretsOfAPerson = {
  POSTGRES_PASSWORD: 'abcdefghijkl',
  API_KEY_PEPPER: 'sixteen characters',
  STUDIO_API_KEY: 'studio-key',
};

/** As compose fills in `${NAME}`, `${NAME:-otherwise}` and `${NAME:?what it is}`. */
function fill(text: string, given: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind, rest: string) => {
    const value = given[name];
    if (value) return value;
    if (kind === '?') throw new Error(`${name} is missing: ${rest}`);
    return kind === '-' ? rest : '';
  });
}

function environmentOf(name: string, given: Readonly<Record<string, string>> = secretsOfAPerson) {
  const entries = Object.entries(services[name]?.environment ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, fill(String(value), given)]));
}

/** The first word that the image's program, or the one named instead of it, is given. */
function processOf(name: string): ProcessName {
  const { entrypoint, command = [] } = services[name] as Service;
  return (entrypoint?.[2] ?? command[0]) as ProcessName;
}

describe('docker-compose.yml', () => {
  test('the process table is found', () => {
    expect(table).toEqual(['api', 'worker', 'studio', 'migrate', 'admin', 'dev']);
  });

  test('has everything a running service consists of', () => {
    expect(Object.keys(services)).toEqual([
      'postgres',
      'temporal-schema',
      'temporal',
      'temporal-namespace',
      'temporal-ui',
      'migrate',
      'api',
      'worker',
      'admin',
      'studio',
    ]);
    expect(services.studio?.profiles).toEqual(['demo']);
    const always = Object.keys(services).filter((name) => !services[name]?.profiles);
    expect(always).not.toContain('studio');
  });

  test.each(ours.map(([name]) => name))('%s starts a process of the table', (name) => {
    expect(table).toContain(processOf(name));
    const { entrypoint } = services[name] as Service;
    if (entrypoint) expect(entrypoint.slice(0, 2)).toEqual(['node', 'dist/src/main.js']);
  });

  test.each(ours.map(([name]) => name))('%s is given settings that exist and suffice', (name) => {
    const { environment = {} } = services[name] as Service;
    const unknown = Object.keys(environment).filter(
      (key) => !settings.has(key) && !channelKeys.has(key),
    );
    expect(unknown).toEqual([]);
    const config = readConfig(processOf(name), environmentOf(name));
    expect(config.playground).toBe(false);
  });

  test('the worker gets every key that a catalogue of ours names', () => {
    expect(Object.keys(services.worker?.environment ?? {})).toEqual(
      expect.arrayContaining([...channelKeys]),
    );
  });

  test.each(['catalogue.yaml', 'catalogue.ark.yaml'])('%s can be served', async (file) => {
    const environment = environmentOf('worker', { ...secretsOfAPerson, CATALOGUE_FILE: file });
    const { catalogueFile, currency } = readConfig('worker', environment);
    const catalogue = await loadCatalogue(join(root, catalogueFile), environment);
    expect(catalogue.currency).toBe(currency);
  });

  test('nothing inside the network may be reached unless a person says so', () => {
    for (const name of ['api', 'worker']) {
      expect(environmentOf(name).DANGEROUSLY_ALLOW_HOSTS).toBe('');
      const given = { ...secretsOfAPerson, DANGEROUSLY_ALLOW_HOSTS: 'studio:8090' };
      expect(environmentOf(name, given).DANGEROUSLY_ALLOW_HOSTS).toBe('studio:8090');
    }
  });

  test('every address inside it is a service and a port it listens on', () => {
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
    ['worker', 'METRICS_PORT', '/metrics'],
    ['studio', 'STUDIO_PORT', '/healthz'],
  ])('%s is asked for its health where it answers', (name, setting, path) => {
    const asked = services[name]?.healthcheck?.test?.join(' ') ?? '';
    const { [setting]: port } = environmentOf(name);
    expect(asked).toContain(`'http://127.0.0.1:${port}${path}'`);
    expect(filesIn('src', '.ts').some((file) => codeOf(file).includes(`'${path}'`))).toBe(true);
  });

  test.each([
    ['api', 'PORT'],
    ['studio', 'STUDIO_PORT'],
  ])('the port %s publishes is the one it listens on', (name, setting) => {
    const published = services[name]?.ports?.map((line) => fill(line, {}).split(':').pop());
    expect(published).toEqual([environmentOf(name)[setting]]);
  });

  test('only the API can be reached from other machines', () => {
    const open = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.some((port) => !port.startsWith('127.0.0.1:')) ? [name] : [],
    );
    expect(open).toEqual(['api']);
  });

  test('what waits for another can wait: a health check, or an end', () => {
    for (const { depends_on: needed = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(needed)) {
        const service = services[name];
        if (condition === 'service_healthy') expect(service?.healthcheck?.test).toBeDefined();
        else expect([name, condition]).toEqual([name, 'service_completed_successfully']);
        if (condition !== 'service_healthy') expect(service?.restart).toMatch(/^on-failure/);
      }
    }
    expect(Object.keys(services.api?.depends_on ?? {})).toEqual(['migrate']);
    expect(Object.keys(services.worker?.depends_on ?? {})).toEqual(['migrate']);
  });

  test.each(Object.keys(services))('%s comes back, and its image has a version', (name) => {
    const { restart, image, build } = services[name] as Service;
    expect(restart).toMatch(name === 'admin' ? /^no$/ : /^(unless-stopped|on-failure:\d+)$/);
    if (!build) expect(image).toMatch(/^[\w/-]+:\d+\.\d+(\.\d+)?(-\w+)?$/);
  });

  test('what must not be lost lies on a volume', () => {
    // From release 18 on the image keeps its data below this folder.
    expect(services.postgres?.volumes).toEqual(['postgres:/var/lib/postgresql']);
    expect(services.studio?.volumes).toEqual(['studio:/data']);
    expect(Object.keys(compose.volumes)).toEqual(['postgres', 'studio']);
    expect(environmentOf('studio').STUDIO_DATA_DIR).toMatch(/^\/data\//);
  });

  test('Temporal shares work fairly, with the very limits of the development server', () => {
    const [config] = services.temporal?.configs ?? [];
    expect(config?.target).toBe(services.temporal?.environment?.DYNAMIC_CONFIG_FILE_PATH);
    const content = parse(compose.configs[config?.source ?? '']?.content ?? '') as Record<
      string,
      [{ value: unknown }]
    >;
    const given = Object.entries(content).map(([key, [{ value }]]) => [key, value]);
    const embedded = /const dynamicConfig = (\{[^}]*\})/.exec(codeOf('src/embedded/temporal.ts'));
    const wanted = parse((embedded?.[1] ?? '').replace(/(\d)_(?=\d)/g, '$1')) as object;
    expect(Object.fromEntries(given)).toEqual(wanted);
    expect(wanted).toMatchObject({ 'matching.enableFairness': true });
  });

  test('no secret is in the file, and a missing one is asked for in words', () => {
    const hidden = /PASSWORD|PEPPER|API_KEY$|_PWD/;
    for (const { environment = {} } of Object.values(services)) {
      for (const [key, value] of Object.entries(environment)) {
        if (hidden.test(key))
          expect([key, value]).toEqual([key, expect.stringMatching(/^\$\{\w+:[?-].*\}$/)]);
      }
    }
    expect(composeText).not.toMatch(/(?:KEY|PASSWORD|PEPPER|SECRET)\w*:-[^}]/);
    expect(() => environmentOf('api', {})).toThrow(/POSTGRES_PASSWORD is missing: \w+ \w+/);
  });

  test('every variable a person may set is a setting, a key, or one of compose’s own', () => {
    const own = new Set(['POSTGRES_PASSWORD', 'API_PORT', 'TAG', ...channelKeys]);
    const used = [...composeText.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !own.has(name) && !settings.has(name))).toEqual([]);
  });
});

describe('what people are told to type', () => {
  const told = [...filesIn('.', '.md'), 'docker-compose.yml'].flatMap((path) => [
    ...read(path).matchAll(/docker compose [^`\n]*/g),
  ]);
  const named = (pattern: RegExp) =>
    told.flatMap(([line]) => [...line.matchAll(pattern)].map(([, name = '']) => name));

  test('names services and profiles that exist', () => {
    const servicesTold = [
      ...named(/--scale (\S+?)=/g),
      ...named(/ run (?:--?\S+ )*([a-z-]+)/g),
      ...named(/ (?:exec|logs|restart|kill|stop) (?:--?\S+ )*([a-z-]+)/g),
    ];
    expect(servicesTold).toEqual(expect.arrayContaining(['worker', 'admin']));
    expect(servicesTold.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
    const profiles = new Set(Object.values(services).flatMap((service) => service.profiles ?? []));
    expect(named(/--profile (\S+)/g).filter((name) => !profiles.has(name))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const text = read('Dockerfile').replace(/\\\n\s*/g, ' ');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const last = lines.slice(lines.map((line) => line.startsWith('FROM ')).lastIndexOf(true));
  const of = (word: string, from = last) => from.filter((line) => line.startsWith(`${word} `));
  const ignored = read('.dockerignore').split('\n');
  const environment = Object.fromEntries(
    of('ENV').flatMap((line) =>
      [...line.matchAll(/(\w+)=(\S+)/g)].map(([, key, value]) => [key, value]),
    ),
  );

  test('every stage stands on the same pinned Node, which is one we promise to run on', () => {
    const images = [...new Set(of('FROM', lines).map((line) => line.split(' ')[1]))];
    expect(images).toEqual([expect.stringMatching(/^node:\d+\.\d+\.\d+-bookworm-slim$/)]);
    const [major = 0, minor = 0] = (images[0] ?? '').slice(5).split('.').map(Number);
    expect(major > 20 || (major === 20 && minor >= 19)).toBe(true);
  });

  test('everything it copies is there, and let through to it', () => {
    const copied = of('COPY', lines)
      .filter((line) => !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.length).toBeGreaterThan(10);
    for (const path of new Set(copied)) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
      expect(ignored).toContain(`!${path}`);
    }
    expect(ignored).toContain('*');
    expect(ignored.filter((line) => line.startsWith('!')).sort()).toEqual(
      [...new Set(copied)].map((path) => `!${path}`).sort(),
    );
  });

  test('all that is built is copied, and so are the sources a build is made of', () => {
    const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
    const built = of('COPY', lines).map((line) => line.split(' ').pop());
    expect(built).toEqual(expect.arrayContaining(include.filter((folder) => folder !== 'bench')));
    expect(last).toContain('COPY --from=build /app/dist dist');
  });

  test('one image starts every process, the API unless told otherwise', () => {
    const [entry] = of('ENTRYPOINT');
    expect(JSON.parse(entry?.slice(11) ?? '')).toEqual([
      'node',
      '--enable-source-maps',
      ...heapFlags,
      'dist/src/main.js',
    ]);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const name of ['api', 'worker']) expect(scripts[name]).toContain(heapFlags.join(' '));
    const [command] = of('CMD');
    expect(table).toContain((JSON.parse(command?.slice(4) ?? '') as string[])[0]);
  });

  test('its settings exist, and the ports it exposes are theirs', () => {
    const { NODE_ENV: _, COMMIT: __, ...ofOurs } = environment;
    expect(Object.keys(ofOurs).filter((name) => !settings.has(name))).toEqual([]);
    expect(settings.has('COMMIT')).toBe(true);
    const config = readConfig('dev', ofOurs);
    expect(of('EXPOSE')).toEqual([`EXPOSE ${config.port} ${config.studioPort}`]);
    expect(config.studioDataDir).toMatch(/^\/data\//);
    expect(of('VOLUME')).toEqual(['VOLUME /data']);
  });

  test('it runs as nobody in particular, and is asked for its health', () => {
    expect(of('USER')).toEqual(['USER node']);
    expect(lines.indexOf('USER node')).toBeGreaterThan(lines.lastIndexOf(of('RUN').at(-1) ?? ''));
    expect(of('HEALTHCHECK').join()).toContain("'/livez'");
    expect(codeOf('src/api/ops.ts')).toContain("'/livez'");
  });

  test('nothing a package brings is run while it is installed', () => {
    const installs = of('RUN', lines).filter((line) => line.includes('npm '));
    expect(installs).toHaveLength(2);
    for (const line of installs) expect(line).toContain('npm ci');
    for (const line of installs) expect(line).toContain('--ignore-scripts');
    expect(installs[1]).toContain('--omit=dev');
  });
});

describe('.github/workflows/check.yml', () => {
  test('runs the one command, on the oldest Node we promise', () => {
    const { jobs } = parse(read('.github/workflows/check.yml')) as {
      jobs: { test: { strategy: { matrix: { node: string[] } }; steps: { run?: string }[] } };
    };
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(jobs.test.steps.flatMap(({ run }) => run ?? [])).toEqual(['npm test']);
    expect(engines.node).toBe(`>=${jobs.test.strategy.matrix.node[0]}`);
  });
});

function keysOfChannels(): Set<string> {
  const named = ['catalogue.yaml', 'catalogue.ark.yaml'].flatMap((file) => {
    const { channels } = parse(read(file), { merge: true }) as {
      channels: Record<string, { apiKeyEnv: string }>;
    };
    return Object.values(channels).map(({ apiKeyEnv }) => apiKeyEnv);
  });
  return new Set(named);
}
